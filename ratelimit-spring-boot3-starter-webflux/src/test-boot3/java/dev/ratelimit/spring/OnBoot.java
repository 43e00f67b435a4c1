package dev.ratelimit.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveUserDetailsServiceAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.ReactiveWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.autoconfigure.web.reactive.WebFluxTest;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.web.reactive.context.AnnotationConfigReactiveWebServerApplicationContext;
import org.springframework.core.annotation.AliasFor;

/** What the tests use of Spring Boot 3.5. */
public final class OnBoot {

    private OnBoot() {}

    /** Starts the part of an application that is about one controller; Spring Security belongs to that in 3.5. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @WebFluxTest(
            excludeAutoConfiguration = {
                ReactiveSecurityAutoConfiguration.class,
                ReactiveUserDetailsServiceAutoConfiguration.class
            })
    public @interface Slice {

        @AliasFor(annotation = WebFluxTest.class)
        Class<?>[] controllers();

        @AliasFor(annotation = WebFluxTest.class)
        String[] properties();
    }

    /** WebFlux and more. */
    public static AutoConfigurations webFlux(Class<?>... more) {
        return AutoConfigurations.of(Stream.concat(
                        Stream.of(HttpHandlerAutoConfiguration.class, WebFluxAutoConfiguration.class), Stream.of(more))
                .toArray(Class<?>[]::new));
    }

    /** Contexts with a server. */
    public static ReactiveWebApplicationContextRunner withServer() {
        return new ReactiveWebApplicationContextRunner(AnnotationConfigReactiveWebServerApplicationContext::new)
                .withConfiguration(AutoConfigurations.of(ReactiveWebServerFactoryAutoConfiguration.class));
    }
}
