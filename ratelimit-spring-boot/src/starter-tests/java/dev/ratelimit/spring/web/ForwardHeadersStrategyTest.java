package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Spring may replace the address of a request before the limits see it; they look at what the server received. */
@Tag("servers")
class ForwardHeadersStrategyTest extends AppPerTest {

    private static final String STRATEGY = "server.forward-headers-strategy=framework";

    @Test
    void forwardedAddress_thatAnybodyMayWrite_isNoKey() {
        start(List.of(TestApi.class), STRATEGY, "p.limit=1/minute", "p.key=ip");

        assertThat(app.get("/any", "X-Forwarded-For: 1.1.1.1").status()).isEqualTo(200);
        assertThat(app.get("/any", "X-Forwarded-For: 2.2.2.2").status()).isEqualTo(429);
    }

    @Test
    void forwardedAddress_ofATrustedProxy_isTheKey() {
        start(
                List.of(TestApi.class),
                STRATEGY,
                "p.limit=1/minute",
                "p.key=ip",
                "ratelimit.trusted-proxies=127.0.0.1",
                "ratelimit.forwarded-header=x-forwarded-for");

        assertThat(app.get("/any", "X-Forwarded-For: 1.1.1.1").status()).isEqualTo(200);
        assertThat(app.get("/any", "X-Forwarded-For: 2.2.2.2").status()).isEqualTo(200);
        assertThat(app.get("/any", "X-Forwarded-For: 2.2.2.2").status()).isEqualTo(429);
    }
}
