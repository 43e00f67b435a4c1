package dev.ratelimit.spring.reactive.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimitConfigurationException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/**
 * Gateways that start in another way. One after another: one that stops disposes of the event loops, which all of them
 * share.
 */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
@ExtendWith(OutputCaptureExtension.class)
@Tag("slow")
class GatewayStartTest {

    @Configuration(proxyBeanMethods = false)
    static class Everyone {

        @Bean
        KeyResolver everyone() {
            return exchange -> Mono.just("everyone");
        }
    }

    @Test
    void start_withAnUnknownPolicy_fails() {
        assertThatThrownBy(() -> RoutedApp.start("""
                spring.cloud.gateway.server.webflux:
                  default-filters: [{name: RateLimit, args: {policies: [orders, order]}}]
                ratelimit.policies.orders.limit: 1/minute
                """))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessage(
                        "route default-filters: names policy 'order' (did you mean 'orders'?), which does not exist;"
                                + " write one of [orders]");
    }

    @Test
    void routes_whileLimitsAreOff_areNotLimited() {
        try (RoutedApp off = RoutedApp.start("""
                ratelimit.enabled: false
                spring.cloud.gateway.server.webflux.routes:
                  - {id: one, uri: $SERVICE, predicates: [Path=/one], filters: [RateLimit=orders]}
                  - id: two
                    uri: $SERVICE
                    predicates: [Path=/two]
                    filters:
                      - name: RequestRateLimiter
                        args:
                          rate-limiter: "#{@policyRateLimiter}"
                          key-resolver: "#{@everyone}"
                          policy-rate-limiter.policy: orders
                """, Everyone.class)) {
            assertThat(off.status("/one")).isEqualTo(200);
            assertThat(off.status("/two")).isEqualTo(200);
        }
    }

    @Test
    void route_thatComesLater_isLeftOutIfTheGatewayGoesOn(CapturedOutput output) {
        try (RoutedApp lenient = RoutedApp.start("""
                spring.cloud.gateway.server.webflux.fail-on-route-definition-error: false
                spring.cloud.gateway.server.webflux.routes: [{id: open, uri: $SERVICE, predicates: [Path=/open]}]
                ratelimit.policies.orders: {limit: 1/minute, key: ip, match.annotated: true}
                """)) {
            Later.save(lenient, "later", "RateLimit=order");
            Later.save(lenient, "other", "RateLimit=orders");

            assertThat(output).contains("RouteDefinition id later will be ignored", "names policy 'order'");
            assertThat(lenient.status("/later")).isEqualTo(404);
            assertThat(lenient.status("/other")).isEqualTo(200);
            assertThat(lenient.status("/other")).isEqualTo(429);
        }
    }

    @Test
    void limiter_isTheDefault_ifThereIsNoOther() {
        try (RoutedApp alone = RoutedApp.start("""
                spring.cloud.gateway.server.webflux:
                  redis.enabled: false
                  routes:
                    - id: orders
                      uri: $SERVICE
                      predicates: [Path=/orders]
                      filters: [{name: RequestRateLimiter, args: {policy-rate-limiter.policy: orders}}]
                ratelimit.policies.orders: {limit: 1/minute, key: user, match.annotated: true}
                """, Everyone.class)) {
            assertThat(alone.status("/orders")).isEqualTo(200);
            assertThat(alone.retryAfter("/orders")).isEqualTo("60");
        }
    }
}
