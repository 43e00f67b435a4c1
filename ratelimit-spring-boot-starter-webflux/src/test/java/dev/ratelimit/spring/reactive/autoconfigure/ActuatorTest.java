package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.audit.AuditEventRepository;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** What operators see and do. */
@Tag("servers")
class ActuatorTest {

    @Configuration(proxyBeanMethods = false)
    static class Operators {

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(all -> all.anyExchange().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }

        @Bean
        AuditEventRepository events() {
            return new InMemoryAuditEventRepository();
        }
    }

    private RunningApp app = start();

    private static RunningApp start(String... more) {
        String[] all = {
            "ratelimit.policies.orders.limit=2/minute",
            "ratelimit.policies.orders.key=ip",
            "ratelimit.policies.orders.match.paths=/**",
            "management.endpoints.web.exposure.include=ratelimits,health",
            "management.endpoint.ratelimits.access=unrestricted",
            "management.endpoint.ratelimits.show-keys=always",
        };
        String[] properties =
                Stream.concat(Arrays.stream(all), Arrays.stream(more)).toArray(String[]::new);
        return RunningApp.start(
                List.of(TestApi.class, RunningApp.WithSecurity.class, RunningApp.Alice.class, Operators.class),
                properties);
    }

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void endpoint_listsPolicies_privately() {
        app.get("/any");

        RawResponse response = app.get("/actuator/ratelimits");

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.body()).contains("orders");
        assertThat(response.header("Cache-Control")).isEqualTo("no-store");
        assertThat(response.header("X-Frame-Options")).isEqualTo("DENY");
        assertThat(response.headerLines()).anyMatch(line -> line.contains("frame-ancestors 'none'"));
    }

    @Test
    void management_isFree() {
        for (int i = 0; i < 5; i++) {
            assertThat(app.get("/actuator/health").status()).isEqualTo(200);
        }
    }

    @Test
    void change_isMadeInTheNameOfTheCaller() {
        RawResponse changed = app.client()
                .sendBody(
                        "POST /actuator/ratelimits/orders HTTP/1.1",
                        "{\"limit\":\"1/minute\"}",
                        "Content-Type: application/json",
                        "Authorization: Basic YWxpY2U6c2VjcmV0");

        assertThat(changed.status()).as(changed.body()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(429);
        assertThat(app.bean(AuditEventRepository.class).find("alice", null, "RATE_LIMIT_CHANGED"))
                .isNotEmpty();
    }

    @Test
    void change_withAQuery_isRefused() {
        RawResponse refused = app.client()
                .sendBody(
                        "POST /actuator/ratelimits/orders?limit=1/minute HTTP/1.1",
                        "{}",
                        "Content-Type: application/json");

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body()).contains("no parameters in the query");
    }

    @Test
    void path_writtenOtherwise_isProtected() {
        String path = "/%61ctuator/%72atelimits/orders";
        RawResponse changed = app.client()
                .sendBody("POST " + path + "?limit=1/minute HTTP/1.1", "{}", "Content-Type: application/json");
        RawResponse shown = app.get(path);

        assertThat(changed.status()).isEqualTo(400);
        assertThat(changed.body()).contains("no parameters in the query");
        assertThat(shown.status()).isEqualTo(200);
        assertThat(shown.header("X-Frame-Options")).isEqualTo("DENY");
    }

    @Test
    void explanation_saysWhatWouldHappen() {
        RawResponse explained = app.get("/actuator/ratelimits/explain?method=GET&path=/orders/7&address=10.0.0.1");

        assertThat(explained.status()).as(explained.body()).isEqualTo(200);
        assertThat(explained.body()).contains("orders", "10.0.0.1");
    }

    @Test
    void portOfTheActuator_isNotLimited() {
        app.close();
        app = start("management.server.port=0");

        for (int i = 0; i < 4; i++) {
            assertThat(app.managementClient().get("/actuator/ratelimits").status())
                    .isEqualTo(200);
        }
        assertThat(app.managementClient().get("/actuator/ratelimits").header("Cache-Control"))
                .isEqualTo("no-store");
        assertThat(app.get("/any").status()).isEqualTo(200);
    }

    @Test
    void outcomes_areCounted() {
        app.get("/any");
        app.get("/any");
        app.get("/any");

        app.awaitCounted("orders", "admitted", 2);
        app.awaitCounted("orders", "refused", 1);
    }
}
