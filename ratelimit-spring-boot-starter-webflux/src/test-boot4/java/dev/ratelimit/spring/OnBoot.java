package dev.ratelimit.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.web.server.reactive.context.AnnotationConfigReactiveWebServerApplicationContext;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.core.annotation.AliasFor;

/** What the tests use of Spring Boot 4. */
public final class OnBoot {

    private OnBoot() {}

    /** Starts the part of an application that is about one controller. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @WebFluxTest
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
                .withConfiguration(AutoConfigurations.of(NettyReactiveWebServerAutoConfiguration.class));
    }
}
