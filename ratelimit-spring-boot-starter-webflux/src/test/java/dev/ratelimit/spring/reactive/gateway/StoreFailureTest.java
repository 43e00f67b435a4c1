package dev.ratelimit.spring.reactive.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.spring.RawResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Without Redis, each policy of a route does what {@code on-store-failure} says. */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
class StoreFailureTest {

    @Started
    private final RedisServer server = RedisServer.start();

    @Test
    @Tag("slow")
    void routes_withoutRedis_doWhatTheirPoliciesSay() {
        try (RoutedApp app = RoutedApp.start("""
                spring.cloud.gateway.server.webflux:
                  default-filters: RateLimit=own
                  routes:
                    - {id: allowed, uri: $SERVICE, predicates: [Path=/allowed], filters: [RateLimit=allowed]}
                    - {id: denied, uri: $SERVICE, predicates: [Path=/denied], filters: [RateLimit=denied]}
                    - {id: kept, uri: $SERVICE, predicates: [Path=/kept], filters: [RateLimit=kept]}
                spring.data.redis.port: %d
                ratelimit.store.type: redis
                ratelimit.policies:
                  own: {limit: 90/hour, key: ip, match.annotated: true}
                  allowed: {limit: 1/hour, key: "route, user", on-store-failure: allow, match.annotated: true}
                  denied: {limit: 1/hour, key: "route, user", on-store-failure: deny, match.annotated: true}
                  kept: {limit: 1/hour, key: "route, user", match.annotated: true}
                """.formatted(server.port()))) {
            assertThat(app.status("/allowed")).isEqualTo(200);
            server.kill();

            assertThat(app.status("/allowed")).isEqualTo(200);
            assertThat(app.status("/allowed")).isEqualTo(200);
            RawResponse denied = app.get("/denied");
            assertThat(denied.status()).isEqualTo(503);
            assertThat(denied.header("Retry-After")).isEqualTo("1");
            assertThat(app.status("/kept")).isEqualTo(200);
            assertThat(app.status("/kept")).isEqualTo(429);

            assertThat(app.reached()).isEqualTo(4);
        }
    }
}
