package dev.ratelimit.spring;

import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** Contexts of applications with Spring MVC and rate limits, and little else. */
public final class Contexts {

    private static final AutoConfigurations CONFIGURATIONS = OnBoot.webMvc(RateLimitAutoConfiguration.class);

    private Contexts() {}

    /** Those without a server. */
    public static WebApplicationContextRunner withoutServer() {
        return new WebApplicationContextRunner().withConfiguration(CONFIGURATIONS);
    }

    /** Those with a server. */
    public static WebApplicationContextRunner withServer() {
        return OnBoot.withServer().withConfiguration(CONFIGURATIONS).withPropertyValues("server.port=0");
    }
}
