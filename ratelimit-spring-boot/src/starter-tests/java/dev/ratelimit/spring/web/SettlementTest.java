package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.Users;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

/** A charge is refunded at most once, with Spring Security between the stages. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class SettlementTest {

    /** Responses that fail, or come in pieces. */
    @RestController
    static class Answering {

        @GetMapping("/failed")
        ResponseEntity<Void> failed(@RequestParam int status) {
            return ResponseEntity.status(status).build();
        }

        @GetMapping(path = "/pieces", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> pieces() {
            return Flux.just("piece", "piece", "piece");
        }
    }

    private final RunningApp app;

    SettlementTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(
                        Answering.class,
                        Committing.class,
                        Chains.OpenToAll.class,
                        Users.class,
                        TestApi.class,
                        RunningApp.WithSecurity.class),
                "ratelimit.policies.counting.limit=9/hour",
                "ratelimit.policies.counting.count=401",
                "ratelimit.policies.counting.key=header:X-Counting",
                "ratelimit.policies.counting.missing-key=skip",
                "ratelimit.policies.freeing.limit=9/hour",
                "ratelimit.policies.freeing.free=2xx",
                "ratelimit.policies.freeing.key=header:X-Freeing",
                "ratelimit.policies.freeing.missing-key=skip",
                "ratelimit.policies.narrow.limit=1/hour",
                "ratelimit.policies.narrow.key=user",
                "ratelimit.policies.narrow.match.paths=/any",
                "ratelimit.exempt.paths=/orders/**");
    }

    @AfterEach
    void forget() {
        app.ticker().advance(Duration.ofHours(2));
    }

    private long remaining(String name, String value) {
        Policy policy = Policy.of(name, TokenBucket.of(Rate.parse("9/hour")));
        RateLimiter limiter = app.bean(RateLimiter.class);
        return limiter.peek(policy.charge("h" + value.length() + ":" + value))
                .limits()
                .get(0)
                .remaining();
    }

    @Test
    void response_committedInPieces_isRefundedOnce() {
        app.get("/failed?status=401", "X-Counting: a");
        app.get("/pieces", "X-Counting: a");

        await().until(() -> remaining("counting", "a") == 8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/any", "/orders/1"})
    void secondStage_refusesOrExempts_refundsOnce(String path) {
        app.get("/failed?status=401", "X-Counting: b", "X-Freeing: b");
        assertThat(app.getAs("alice", path).status()).isEqualTo(200);

        app.getAs("alice", path, "X-Counting: b", "X-Freeing: b", "X-Hasty: yes");
        app.getAs("alice", path, "X-Counting: b", "X-Freeing: b");

        await().until(() -> remaining("counting", "b") == 8 && remaining("freeing", "b") == 8);
    }
}
