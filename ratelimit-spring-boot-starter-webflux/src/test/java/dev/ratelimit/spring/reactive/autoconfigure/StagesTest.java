package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** With Spring Security, rules that need no user charge before it, all others after it. */
@Tag("servers")
class StagesTest {

    @Configuration(proxyBeanMethods = false)
    static class OrdersNeedLogin {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.pathMatchers("/orders/**")
                            .authenticated()
                            .anyExchange()
                            .permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }
    }

    private RunningApp app = start("ratelimit.policies.users.limit=1/minute", "ratelimit.policies.users.key=user");

    private static RunningApp start(String... properties) {
        return RunningApp.start(
                List.of(RunningApp.WithSecurity.class, RunningApp.Alice.class, OrdersNeedLogin.class, TestApi.class),
                properties);
    }

    @AfterEach
    void stop() {
        app.close();
    }

    private void restart(String... properties) {
        app.close();
        app = start(properties);
    }

    @Test
    void budget_ofAUser_isChargedAfterLogin() {
        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(200);
        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(429);
        assertThat(app.get("/orders/1").status()).isEqualTo(401);
    }

    @Test
    void guesses_beforeSecurity_areRefusedBeforeThePasswordIsChecked() {
        restart(
                "ratelimit.policies.guesses.limit=2/minute",
                "ratelimit.policies.guesses.key=ip",
                "ratelimit.policies.guesses.count=401",
                "ratelimit.policies.guesses.stage=before-security");

        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(200);
        assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(401);
        assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(401);
        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(429);
    }

    @Test
    void refusal_afterSecurity_givesBackWhatWasChargedBefore() {
        restart(
                "ratelimit.policies.all.limit=3/minute",
                "ratelimit.policies.all.key=ip",
                "ratelimit.policies.all.stage=before-security",
                "ratelimit.policies.users.limit=1/minute",
                "ratelimit.policies.users.key=user");

        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(200);
        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(429);
        assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(429);
        assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(401);
        assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(401);
        assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(429);
    }
}
