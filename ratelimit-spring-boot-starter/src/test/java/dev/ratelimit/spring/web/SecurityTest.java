package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** With Spring Security the filter runs after it: it knows the user. */
class SecurityTest {

    @Configuration(proxyBeanMethods = false)
    static class Users {
        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(user("alice"), user("bob"), user("127.0.0.1"));
        }

        private static org.springframework.security.core.userdetails.UserDetails user(String name) {
            return User.withUsername(name)
                    .password("{noop}secret")
                    .roles("USER")
                    .build();
        }
    }

    private static RunningApp app;

    @BeforeAll
    static void start() {
        app = RunningApp.start(
                List.of(RunningApp.WithSecurity.class, Users.class, TestApi.class),
                "ratelimit.policies.per-user.limit=2/hour",
                "ratelimit.policies.per-user.key=user");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    private static RawResponse getAs(String user, String password) {
        String credentials =
                Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.US_ASCII));
        return app.get("/any", "Authorization: Basic " + credentials);
    }

    @Test
    void users_haveBudgetsOfTheirOwn_alsoOneThatIsCalledLikeAnAddress() {
        for (String user : List.of("alice", "bob", "127.0.0.1")) {
            assertThat(getAs(user, "secret").status()).isEqualTo(200);
            assertThat(getAs(user, "secret").status()).isEqualTo(200);
            assertThat(getAs(user, "secret").status()).isEqualTo(429);
        }
    }

    @Test
    void unauthenticated_isSecuritysToRefuse_andPaysNothing() {
        long before = app.counted("per-user", "admitted");
        for (int i = 0; i < 5; i++) {
            assertThat(app.get("/any").status()).isEqualTo(401);
            assertThat(getAs("alice", "wrong").status()).isEqualTo(401);
        }

        assertThat(app.counted("per-user", "admitted")).isEqualTo(before);
    }
}
