package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RunningApp;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Netty notices at once that a client has left, even while nothing is written. */
@Tag("servers")
class ClientGoneTest {

    /** Handlers that say nothing, or nothing more. */
    @RestController
    static class Silent {

        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch cancelled = new CountDownLatch(1);

        @GetMapping("/held/never")
        Mono<String> never() {
            return Mono.<String>never()
                    .doOnSubscribe(subscription -> started.countDown())
                    .doOnCancel(cancelled::countDown);
        }

        @GetMapping("/held/now")
        Mono<String> now() {
            return Mono.just("now");
        }

        @GetMapping(path = "/held/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> stream() {
            return Flux.concat(Mono.just("first"), never());
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(Silent.class), "ratelimit.policies.held.concurrency=1", "ratelimit.policies.held.key=ip");

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void heldPermit_whileNothingIsSent_comesBack() throws Exception {
        try (Socket client = app.client().begin("GET /held/never HTTP/1.1")) {
            leave(client);
        }
        awaitPermit();
    }

    @Test
    void heldPermit_whileAStreamIsSilent_comesBack() throws Exception {
        try (Socket client = app.client().begin("GET /held/stream HTTP/1.1")) {
            app.awaitAnswer(client);
            leave(client);
        }
        awaitPermit();
    }

    private void leave(Socket client) throws Exception {
        assertThat(app.bean(Silent.class).started.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(app.get("/held/now").status()).isEqualTo(429);
        client.setSoLinger(true, 0); // closing resets the connection
    }

    private void awaitPermit() throws Exception {
        assertThat(app.bean(Silent.class).cancelled.await(10, TimeUnit.SECONDS)).isTrue();
        await().untilAsserted(() -> assertThat(app.get("/held/now").status()).isEqualTo(200));
    }
}
