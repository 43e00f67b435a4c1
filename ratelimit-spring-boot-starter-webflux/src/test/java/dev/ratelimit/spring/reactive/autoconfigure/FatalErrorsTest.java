package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Handlers that end with what Reactor throws and does not signal give their permits back. */
@Tag("servers")
class FatalErrorsTest {

    @RestController
    static class Broken {

        private final Holder holder;

        Broken(Holder holder) {
            this.holder = holder;
        }

        @GetMapping("/held/missing")
        String missing() {
            throw new NoClassDefFoundError("missing");
        }

        @GetMapping("/held/deep")
        Mono<String> deep() {
            return Mono.fromSupplier(() -> {
                throw new StackOverflowError("deep");
            });
        }

        @GetMapping("/held/stream")
        Flux<String> stream() {
            return Flux.range(0, 3).map(i -> {
                throw new ExceptionInInitializerError("stream");
            });
        }

        @GetMapping("/held/now")
        String now() {
            return "now";
        }

        @GetMapping("/bean")
        Mono<String> bean() {
            return holder.hold();
        }
    }

    /** Broken at its first call. */
    @Component
    static class Holder {

        private final AtomicInteger calls = new AtomicInteger();

        @RateLimited(policy = "held")
        public Mono<String> hold() {
            return Mono.fromSupplier(() -> {
                if (calls.getAndIncrement() == 0) {
                    throw new NoClassDefFoundError("held");
                }
                return "held";
            });
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(Broken.class, Holder.class),
            "ratelimit.policies.requests.concurrency=1",
            "ratelimit.policies.requests.match.paths=/held/**",
            "ratelimit.policies.held.concurrency=1",
            "ratelimit.policies.held.match.annotated=true");

    @AfterEach
    void stop() {
        app.close();
    }

    private void sendTo(String path) {
        try {
            app.get(path);
        } catch (RuntimeException | AssertionError closed) {
            // Netty closes the connection
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/held/missing", "/held/deep", "/held/stream"})
    void permitOfARequest_comesBack(String path) {
        sendTo(path);

        assertThat(app.get("/held/now").status()).isEqualTo(200);
    }

    @Test
    void permitOfACall_comesBack() {
        sendTo("/bean");

        assertThat(app.get("/bean").status()).isEqualTo(200);
    }
}
