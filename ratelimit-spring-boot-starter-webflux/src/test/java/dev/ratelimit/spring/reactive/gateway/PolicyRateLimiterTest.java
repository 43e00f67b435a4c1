package dev.ratelimit.spring.reactive.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RawResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** The gateway's own filter asks policies. Each test has its own routes and policies. */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
class PolicyRateLimiterTest {

    @Configuration(proxyBeanMethods = false)
    static class Keys {

        @Bean
        KeyResolver apiKey() {
            return exchange ->
                    Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Api-Key"));
        }
    }

    /** The limiter; nested, as the gateway is not on the class path of all tests. */
    private static final class Asked {

        static void by(String route) {
            app.app().bean(PolicyRateLimiter.class).isAllowed(route, "ann").block();
        }
    }

    private static final String LIMITER =
            "{name: RequestRateLimiter, args: {rate-limiter: \"#{@policyRateLimiter}\", policy-rate-limiter.policy: %s}}";

    private static RoutedApp app;

    @BeforeAll
    static void start() {
        app = RoutedApp.start(
                """
                spring.cloud.gateway.server.webflux:
                  routes:
                    - {id: orders, uri: $SERVICE, predicates: [Path=/orders], filters: [%s]}
                    - {id: east, uri: $SERVICE, predicates: [Path=/east], filters: [%s]}
                    - {id: west, uri: $SERVICE, predicates: [Path=/west], filters: [%<s]}
                    - {id: behind, uri: $SERVICE, predicates: [Path=/behind], filters: [RateLimit=wide, %s]}
                    - {id: held, uri: $SERVICE, predicates: [Path=/held], filters: [%s]}
                ratelimit.policies:
                  orders: {limit: 2/minute, key: "route, user", match.annotated: true}
                  everywhere: {limit: 1/minute, key: user, match.annotated: true}
                  wide: {limit: 5/minute, key: ip, match.annotated: true}
                  narrow: {limit: 1/minute, key: "ip, user", match.annotated: true}
                  held: {concurrency: 1, key: "route, user", match.annotated: true}
                """.formatted(
                                LIMITER.formatted("orders"),
                                LIMITER.formatted("everywhere"),
                                LIMITER.formatted("narrow"),
                                LIMITER.formatted("held")),
                Keys.class);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @Test
    void limiter_ofARoute_chargesTheCallerThatTheResolverFinds() {
        RawResponse first = app.get("/orders", "X-Api-Key: ann");
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("RateLimit")).isEqualTo("\"orders\";r=1;t=30");
        assertThat(app.status("/orders", "X-Api-Key: ann")).isEqualTo(200);

        RawResponse refused = app.get("/orders", "X-Api-Key: ann");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isEqualTo("30");
        assertThat(refused.header("RateLimit")).isEqualTo("\"orders\";r=0;t=30");
        assertThat(refused.header("RateLimit-Policy")).isEqualTo("\"orders\";q=2;w=60");
        assertThat(refused.body()).isEmpty();
        assertThat(app.status("/orders", "X-Api-Key: bob")).isEqualTo(200);
        assertThat(app.status("/orders")).isEqualTo(403);
        assertThat(app.remaining("orders", "orders", "ann")).isZero();
        app.app().awaitCounted("orders", "refused", 1);
    }

    @Test
    void policy_withoutTheRouteInItsKey_hasOneBudgetOfAllRoutes() {
        assertThat(app.status("/east", "X-Api-Key: ann")).isEqualTo(200);
        assertThat(app.retryAfter("/west", "X-Api-Key: ann")).isEqualTo("60");
    }

    @Test
    void refusal_givesBackWhatFiltersHaveCharged() {
        assertThat(app.status("/behind", "X-Api-Key: ann")).isEqualTo(200);
        RawResponse refused = app.get("/behind", "X-Api-Key: ann");

        assertThat(refused.headerLines())
                .filteredOn(line -> line.startsWith("RateLimit:"))
                .singleElement()
                .asString()
                .contains("\"wide\";r=4", "\"narrow\";r=0");
        assertThat(app.remaining("wide", "127.0.0.1")).isEqualTo(4);
    }

    @Test
    void heldPermit_ofACompleteResponse_comesBack() {
        assertThat(app.status("/held", "X-Api-Key: ann")).isEqualTo(200);
        assertThat(app.status("/held", "X-Api-Key: ann")).isEqualTo(200);
    }

    @Test
    void isAllowed_outsideOfAnExchange_isAnError() {
        assertThatThrownBy(() -> Asked.by("orders")).hasMessageStartingWith("nothing tells whose request this is");
        assertThatThrownBy(() -> Asked.by("other"))
                .hasMessage(
                        "route other: its RequestRateLimiter names no policy; write policy-rate-limiter.policy beside"
                                + " its rate-limiter");
    }
}
