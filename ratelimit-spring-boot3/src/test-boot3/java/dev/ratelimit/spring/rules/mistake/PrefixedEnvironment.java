package dev.ratelimit.spring.rules.mistake;

import java.util.Map;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.SystemEnvironmentOrigin;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** The environment of an application that has called {@code setEnvironmentPrefix("my")}, in Spring Boot 3.5. */
final class PrefixedEnvironment extends SystemEnvironmentPropertySource implements OriginLookup<String> {

    PrefixedEnvironment(Map<String, Object> variables) {
        super(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables);
    }

    @Override
    public Origin getOrigin(String key) {
        return new SystemEnvironmentOrigin(key);
    }

    @Override
    public String getPrefix() {
        return "my";
    }
}
