package dev.ratelimit.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Objects;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;

/** What the tests of all starters use of Spring Boot 4. */
final class AnyStack {

    private AnyStack() {}

    /** Configures the application, but not Spring Security. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.security.autoconfigure.ReactiveUserDetailsServiceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration"
            })
    @interface EnableAllButSecurity {}

    /** The name of the server. */
    static String server(ApplicationContext context) {
        return Objects.requireNonNull(((WebServerApplicationContext) context).getWebServer())
                .getClass()
                .getSimpleName();
    }
}
