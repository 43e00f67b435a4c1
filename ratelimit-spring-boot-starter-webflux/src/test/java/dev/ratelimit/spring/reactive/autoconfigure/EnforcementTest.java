package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests to a real server are charged and refused. */
@Tag("servers")
class EnforcementTest {

    private final RunningApp app = RunningApp.start(
            List.of(TestApi.class),
            "ratelimit.policies.orders.limit=2/minute",
            "ratelimit.policies.orders.key=ip",
            "ratelimit.policies.orders.match.paths=/orders/**");

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void request_overTheLimit_is429UntilPermitsAreBack() {
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(app.get("/orders/1").header("RateLimit")).isEqualTo("\"orders\";r=0;t=30");

        RawResponse refused = app.get("/orders/2");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isNotNull();
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.body()).contains("quota-exceeded");
        assertThat(app.bean(TestApi.class).reached()).isEqualTo(2);

        app.ticker().advance(Duration.ofSeconds(30));
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
    }

    @Test
    void request_elsewhere_isNotCharged() {
        assertThat(app.get("/any").header("RateLimit")).isNull();
    }
}
