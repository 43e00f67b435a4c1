package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.actuate.autoconfigure.data.redis.RedisHealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.test.autoconfigure.web.servlet.AutoConfigureMockMvc;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.server.ErrorPage;
import org.springframework.boot.web.server.ErrorPageRegistrar;
import org.springframework.boot.web.server.ErrorPageRegistry;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebApplicationContext;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.http.HttpStatus;

/** What the tests use of Spring Boot 3.5 and Servlet 6.0. */
public final class OnBoot {

    public static final Class<?> REDIS = RedisAutoConfiguration.class;
    public static final Class<?> REDIS_DETAILS = RedisConnectionDetails.class;
    public static final Class<?> ERRORS = ErrorMvcAutoConfiguration.class;
    public static final Class<?> HEALTH_INDICATOR = HealthIndicator.class;

    private OnBoot() {}

    /** Configures Spring MVC and a client that needs no server; Spring Security belongs to that in 3.5. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @AutoConfigureMockMvc
    @ImportAutoConfiguration(
            value = {DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class},
            exclude = {
                SecurityAutoConfiguration.class,
                SecurityFilterAutoConfiguration.class,
                UserDetailsServiceAutoConfiguration.class
            })
    public @interface MockMvc {}

    /** Shows pages for errors. */
    public record ErrorPages(List<ErrorPage> pages) implements ErrorPageRegistrar {

        public ErrorPages() {
            this(List.of());
        }

        public ErrorPages with(HttpStatus status, String path) {
            return with(new ErrorPage(status, path));
        }

        public ErrorPages with(Class<? extends Throwable> exception, String path) {
            return with(new ErrorPage(exception, path));
        }

        private ErrorPages with(ErrorPage page) {
            return new ErrorPages(Stream.concat(pages.stream(), Stream.of(page)).toList());
        }

        @Override
        public void registerErrorPages(ErrorPageRegistry registry) {
            registry.addErrorPages(pages.toArray(ErrorPage[]::new));
        }
    }

    /** Spring MVC and more. */
    public static AutoConfigurations webMvc(Class<?>... more) {
        return AutoConfigurations.of(Stream.concat(
                        Stream.of(DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class),
                        Stream.of(more))
                .toArray(Class<?>[]::new));
    }

    public static AutoConfigurations security() {
        return AutoConfigurations.of(SecurityAutoConfiguration.class, SecurityFilterAutoConfiguration.class);
    }

    /** The health of Redis. */
    public static AutoConfigurations health() {
        return AutoConfigurations.of(
                HealthContributorAutoConfiguration.class, RedisHealthContributorAutoConfiguration.class);
    }

    /** Contexts with a server. */
    public static WebApplicationContextRunner withServer() {
        return new WebApplicationContextRunner(AnnotationConfigServletWebServerApplicationContext::new)
                .withConfiguration(AutoConfigurations.of(ServletWebServerFactoryAutoConfiguration.class));
    }

    /** A context without a server. */
    public static AnnotationConfigServletWebApplicationContext context() {
        return new AnnotationConfigServletWebApplicationContext();
    }

    /** The ways to send a redirect. */
    public static Stream<String> redirects() {
        return Stream.of("plain");
    }

    public static void redirect(HttpServletResponse response, String way, String location) throws IOException {
        response.sendRedirect(location);
    }

    /** Source code from the documentation, which is written for Spring Boot 4. */
    static String source(String source) {
        return source.replace(
                "org.springframework.boot.webmvc.test.autoconfigure",
                "org.springframework.boot.test.autoconfigure.web.servlet");
    }
}
