package dev.ratelimit.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Objects;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;

/** What the tests of all starters use of Spring Boot 3.5. */
final class AnyStack {

    private AnyStack() {}

    /** Configures the application, but not Spring Security. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.reactive.ReactiveUserDetailsServiceAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration",
                "org.springframework.boot.actuate.autoconfigure.security.reactive.ReactiveManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration"
            })
    @interface EnableAllButSecurity {}

    /** The name of the server. */
    static String server(ApplicationContext context) {
        return Objects.requireNonNull(((WebServerApplicationContext) context).getWebServer())
                .getClass()
                .getSimpleName();
    }
}
