package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/** Stops the start on Spring Boot 3, before classes of Spring Boot 4 are missing. Uses only what both versions have. */
final class SpringBootVersionCheck implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final int FIRST = 4;

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        check(SpringBootVersion.getVersion());
    }

    /** Checks a version, such as {@code 3.5.7}. */
    static void check(@Nullable String version) {
        int dot = version == null ? -1 : version.indexOf('.');
        if (version != null && dot > 0 && Integer.parseInt(version, 0, dot, 10) < FIRST) {
            throw new RateLimitConfigurationException(
                    "ratelimit-spring-boot-starter",
                    null,
                    "this version needs Spring Boot " + FIRST + ", and the application runs on Spring Boot " + version
                            + "; upgrade Spring Boot or remove the starter");
        }
    }
}
