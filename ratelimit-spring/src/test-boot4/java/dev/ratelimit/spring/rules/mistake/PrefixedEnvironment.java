package dev.ratelimit.spring.rules.mistake;

import java.util.Map;
import org.springframework.boot.env.PropertySourceInfo;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** The environment of an application that has called {@code setEnvironmentPrefix("my")}, in Spring Boot 4. */
final class PrefixedEnvironment extends SystemEnvironmentPropertySource implements PropertySourceInfo {

    PrefixedEnvironment(Map<String, Object> variables) {
        super(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables);
    }

    @Override
    public String getPrefix() {
        return "my";
    }
}
