package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.health.DataRedisHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.context.servlet.AnnotationConfigServletWebApplicationContext;
import org.springframework.boot.web.error.ErrorPage;
import org.springframework.boot.web.error.ErrorPageRegistrar;
import org.springframework.boot.web.error.ErrorPageRegistry;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;

/** What the tests use of Spring Boot 4 and Servlet 6.1. */
public final class OnBoot {

    public static final Class<?> REDIS = DataRedisAutoConfiguration.class;
    public static final Class<?> REDIS_DETAILS = DataRedisConnectionDetails.class;
    public static final Class<?> ERRORS = ErrorMvcAutoConfiguration.class;
    public static final Class<?> HEALTH_INDICATOR = HealthIndicator.class;

    private OnBoot() {}

    /** Configures Spring MVC and a client that needs no server. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @AutoConfigureMockMvc
    @ImportAutoConfiguration({DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class})
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
        return AutoConfigurations.of(
                SecurityAutoConfiguration.class,
                ServletWebSecurityAutoConfiguration.class,
                SecurityFilterAutoConfiguration.class);
    }

    /** The health of Redis. */
    public static AutoConfigurations health() {
        return AutoConfigurations.of(
                HealthContributorAutoConfiguration.class, DataRedisHealthContributorAutoConfiguration.class);
    }

    /** Contexts with a server. */
    public static WebApplicationContextRunner withServer() {
        return new WebApplicationContextRunner(AnnotationConfigServletWebServerApplicationContext::new)
                .withConfiguration(AutoConfigurations.of(TomcatServletWebServerAutoConfiguration.class));
    }

    /** A context without a server. */
    public static AnnotationConfigServletWebApplicationContext context() {
        return new AnnotationConfigServletWebApplicationContext();
    }

    /** The ways to send a redirect. */
    public static Stream<String> redirects() {
        return Stream.of("plain", "status", "clear", "both");
    }

    public static void redirect(HttpServletResponse response, String way, String location) throws IOException {
        switch (way) {
            case "status" -> response.sendRedirect(location, 303);
            case "clear" -> response.sendRedirect(location, true);
            case "both" -> response.sendRedirect(location, 303, true);
            default -> response.sendRedirect(location);
        }
    }

    /** Source code from the documentation, which is written for Spring Boot 4. */
    static String source(String source) {
        return source;
    }
}
