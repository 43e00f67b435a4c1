package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Held permits come back, and charges are settled, once, however an exchange ends. */
@Tag("servers")
class EndingsTest {

    @RestController
    static class Api {

        private final Sinks.One<String> result = Sinks.one();
        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch cancelled = new CountDownLatch(1);

        @GetMapping("/held/never")
        Mono<String> never() {
            started.countDown();
            return result.asMono().doOnCancel(cancelled::countDown);
        }

        @GetMapping("/held/now")
        Mono<String> now() {
            return Mono.just("now");
        }

        @GetMapping("/held/boom")
        Mono<String> boom() {
            return Mono.error(new IllegalStateException("boom"));
        }

        @GetMapping(path = "/held/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> stream() {
            return Flux.concat(Mono.just("first"), never());
        }

        @GetMapping("/free/ok")
        String ok() {
            return "ok";
        }

        @GetMapping("/free/unauthorized")
        Mono<String> unauthorized() {
            return Mono.error(new ResponseStatusException(HttpStatus.UNAUTHORIZED));
        }

        @GetMapping("/free/boom")
        Mono<String> freeBoom() {
            return Mono.error(new IllegalStateException("boom"));
        }

        @GetMapping("/free/file")
        Mono<ResponseEntity<Resource>> file() {
            return Mono.just(ResponseEntity.status(HttpStatus.FORBIDDEN).body(new ByteArrayResource(new byte[10])));
        }
    }

    private final RunningApp app = RunningApp.start(
            List.of(Api.class),
            "ratelimit.policies.held.concurrency=1",
            "ratelimit.policies.held.key=ip",
            "ratelimit.policies.held.match.paths=/held/**",
            "ratelimit.policies.free.limit=1/minute",
            "ratelimit.policies.free.key=ip",
            "ratelimit.policies.free.count=403",
            "ratelimit.policies.free.match.paths=/free/**");

    private final Api api = app.bean(Api.class);

    @AfterEach
    void stop() {
        app.close();
    }

    @Test
    void heldPermit_ofACompleteResponse_comesBack() {
        assertThat(app.get("/held/now").status()).isEqualTo(200);
        assertThat(app.get("/held/now").status()).isEqualTo(200);
    }

    @Test
    void heldPermit_ofAnError_comesBack() {
        assertThat(app.get("/held/boom").status()).isEqualTo(500);
        assertThat(app.get("/held/now").status()).isEqualTo(200);
    }

    @Test
    void heldPermit_ofAClientThatLeaves_comesBack() throws Exception {
        assertComesBack("/held/never");
    }

    @Test
    void heldPermit_ofAStreamWhoseClientLeaves_comesBack() throws Exception {
        assertComesBack("/held/stream");
    }

    private void assertComesBack(String path) throws IOException, InterruptedException {
        try (Socket client = app.client().begin("GET " + path + " HTTP/1.1")) {
            assertThat(api.started.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(app.get("/held/now").status()).isEqualTo(429);
            if (path.endsWith("stream")) {
                assertThat(client.getInputStream().readNBytes(20).length).isPositive();
            }
            client.setSoLinger(true, 0);
        }
        assertThat(api.cancelled.await(10, TimeUnit.SECONDS)).isTrue();

        await().untilAsserted(() -> assertThat(app.get("/held/now").status()).isEqualTo(200));
    }

    @Test
    void charge_forAFreeStatus_comesBack() {
        assertThat(app.get("/free/ok").status()).isEqualTo(200);
        assertThat(app.get("/free/unauthorized").status()).isEqualTo(401);
        assertThat(app.get("/free/ok").status()).isEqualTo(200);
    }

    @Test
    void charge_ofAnExceptionWithoutAStatus_stays() {
        assertThat(app.get("/free/boom").status()).isEqualTo(500);
        assertThat(app.get("/free/ok").status()).isEqualTo(429);
    }

    @Test
    void charge_ofAStatusThatARangeReplaces_stays() {
        assertThat(app.get("/free/file", "Range: bytes=0-1").status()).isEqualTo(206);
        assertThat(app.get("/free/ok").status()).isEqualTo(429);
    }
}
