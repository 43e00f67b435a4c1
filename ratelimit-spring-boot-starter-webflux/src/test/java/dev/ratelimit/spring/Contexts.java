package dev.ratelimit.spring;

import dev.ratelimit.spring.reactive.autoconfigure.RateLimitWebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;

/** Contexts of applications with WebFlux and rate limits, and little else. */
public final class Contexts {

    private static final AutoConfigurations CONFIGURATIONS = OnBoot.webFlux(RateLimitWebFluxAutoConfiguration.class);

    private Contexts() {}

    /** Those without a server. */
    public static ReactiveWebApplicationContextRunner withoutServer() {
        return new ReactiveWebApplicationContextRunner().withConfiguration(CONFIGURATIONS);
    }

    /** Those with a server. */
    public static ReactiveWebApplicationContextRunner withServer() {
        return OnBoot.withServer().withConfiguration(CONFIGURATIONS).withPropertyValues("server.port=0");
    }
}
