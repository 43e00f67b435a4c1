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

/**
 * Gateways that start in another way. One after another: one that stops disposes of the event loops, which all of them
 * share.
 */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
@ExtendWith(OutputCaptureExtension.class)
@Tag("slow")
class GatewayStartTest {

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
                """)) {
            assertThat(off.status("/one")).isEqualTo(200);
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
}
