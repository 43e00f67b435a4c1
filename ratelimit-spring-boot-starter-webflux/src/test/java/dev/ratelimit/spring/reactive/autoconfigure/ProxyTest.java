package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whose address a request has. */
@Tag("servers")
class ProxyTest {

    private static RunningApp start(String... properties) {
        return RunningApp.start(
                List.of(TestApi.class),
                Stream.concat(
                                Stream.of(
                                        "ratelimit.policies.address.limit=1/minute",
                                        "ratelimit.policies.address.key=ip"),
                                Stream.of(properties))
                        .toArray(String[]::new));
    }

    @Test
    void forwardedAddress_thatAnybodyMayWrite_isNoKey() {
        try (RunningApp app = start("server.forward-headers-strategy=framework")) {
            assertThat(app.get("/any", "X-Forwarded-For: 1.1.1.1").status()).isEqualTo(200);
            assertThat(app.get("/any", "X-Forwarded-For: 2.2.2.2").status()).isEqualTo(429);
        }
    }

    @Test
    void forwardedAddress_ofATrustedProxy_isTheKey() {
        try (RunningApp app = start(
                "server.forward-headers-strategy=framework",
                "ratelimit.trusted-proxies=127.0.0.1",
                "ratelimit.forwarded-header=x-forwarded-for")) {
            assertThat(app.get("/any", "X-Forwarded-For: 1.1.1.1").status()).isEqualTo(200);
            assertThat(app.get("/any", "X-Forwarded-For: 2.2.2.2").status()).isEqualTo(200);
            assertThat(app.get("/any", "X-Forwarded-For: 2.2.2.2").status()).isEqualTo(429);
        }
    }

    @Test
    void basePath_isNotPartOfPaths() {
        try (RunningApp app =
                start("spring.webflux.base-path=/shop", "ratelimit.policies.address.match.paths=/orders/**")) {
            assertThat(app.get("/shop/orders/1").status()).isEqualTo(200);
            assertThat(app.get("/shop/orders/1").status()).isEqualTo(429);
            assertThat(app.get("/shop/any").status()).isEqualTo(200);
        }
    }
}
