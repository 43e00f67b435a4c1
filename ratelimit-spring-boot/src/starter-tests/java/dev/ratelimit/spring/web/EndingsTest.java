package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The table of docs/configuration/charging.md: the ways in which a request can end, and the charge for each. */
@ParameterizedClass
@MethodSource("servers")
@Tag("slow")
class EndingsTest {

    /** Ends requests in ways that all web stacks have. */
    @RestController
    static class Answers {

        @GetMapping("/body")
        ResponseEntity<Map<String, String>> body(@RequestParam int status) {
            return ResponseEntity.status(status).eTag("\"v\"").body(Map.of("a", "b"));
        }

        @GetMapping("/resolved")
        String resolved(@RequestParam int status) {
            throw new ResponseStatusException(HttpStatus.valueOf(status));
        }

        @GetMapping("/thrown")
        String thrown() {
            throw new IllegalStateException("broken");
        }

        @GetMapping("/file")
        Resource file() {
            return new ByteArrayResource("file".getBytes(StandardCharsets.US_ASCII));
        }
    }

    private final RunningApp app;

    EndingsTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Answers.class, Endings.class, Endings.Pages.class, TestApi.class),
                "ratelimit.policies.counting.limit=2/hour",
                "ratelimit.policies.counting.count=401",
                "ratelimit.policies.counting.key=header:X-Counting",
                "ratelimit.policies.counting.missing-key=skip",
                "ratelimit.policies.freeing.limit=2/hour",
                "ratelimit.policies.freeing.free=2xx",
                "ratelimit.policies.freeing.key=header:X-Freeing",
                "ratelimit.policies.freeing.missing-key=skip",
                "ratelimit.policies.successes.limit=2/hour",
                "ratelimit.policies.successes.count=200",
                "ratelimit.policies.successes.key=header:X-Successes",
                "ratelimit.policies.successes.missing-key=skip");
    }

    @AfterEach
    void forget() {
        app.ticker().advance(Duration.ofHours(2));
    }

    @ParameterizedTest
    @CsvSource({
        // path, Accept, status, charged by count: 401, charged by free: 2xx
        "/body?status=200, */*, 200, false, false",
        "/body?status=401, */*, 401, true, true",
        "/body?status=403, */*, 403, false, true",
        "/body?status=401, text/csv, 406, true, true",
        "/body?status=200, text/csv, 406, true, true",
        "/sent?status=401, */*, 401, true, true",
        "/sent?status=404, */*, 404, false, true",
        "/resolved?status=401, text/csv, 401, true, true",
        "/resolved?status=403, */*, 403, false, true",
        "/resolved?status=500, */*, 500, false, true",
        "/nowhere, */*, 404, false, true",
        "/thrown, */*, 500, true, true",
        "/thrown-after-status, */*, 500, true, true",
        "/thrown-to-page, */*, 401, true, true",
        "/thrown-to-filter, */*, 401, true, true",
        "/thrown-after-commit, */*, 200, false, false",
        "/later?status=200, */*, 200, false, false",
        "/later?status=401, */*, 401, true, true",
        "/sent-later?status=401, */*, 401, true, true",
        "/sent-later?status=404, */*, 404, false, true",
        "/thrown-later, */*, 500, true, true",
        "/never, */*, 503, false, true",
        "/sse, */*, 200, false, false",
        "/stream, */*, 200, false, false"
    })
    void request_ends_isChargedUnlessItsStatusIsKnownToBeFree(
            String path, String accept, int status, boolean count, boolean free) {
        assertCharged("counting", count, path, status, "Accept: " + accept);
        assertCharged("freeing", free, path, status, "Accept: " + accept);
    }

    static Stream<Arguments> more() {
        return Endings.MORE.stream().map(row -> Arguments.of((Object[]) row.split(", ")));
    }

    @ParameterizedTest
    @MethodSource("more")
    void request_endsAsOnlyThisWebStackDoes_isChargedUnlessItsStatusIsKnownToBeFree(
            String path, String accept, int status, boolean count, boolean free) {
        request_ends_isChargedUnlessItsStatusIsKnownToBeFree(path, accept, status, count, free);
    }

    private void assertCharged(String policy, boolean charged, String path, int status, String... headers) {
        String[] all = Stream.concat(Stream.of(headers), Stream.of("X-" + policy + ": " + path))
                .toArray(String[]::new);
        for (int i = 0; i < 2; i++) {
            assertThat(app.get(path, all).status()).as(policy).isEqualTo(status);
        }
        if (!charged) {
            awaitRemaining(policy, path, 2);
        }

        assertThat(app.get(path, all).status()).as(policy).isEqualTo(charged ? 429 : status);
    }

    private void awaitRemaining(String name, String value, long permits) {
        await().until(() -> remaining(app, name, value) == permits);
    }

    /** How many permits the key has left under a policy of two an hour. */
    static long remaining(RunningApp app, String name, String value) {
        Policy policy = Policy.of(name, TokenBucket.of(Rate.parse("2/hour")));
        String key = "h" + value.length() + ":" + value;
        return app.bean(RateLimiter.class)
                .peek(policy.charge(key))
                .limits()
                .get(0)
                .remaining();
    }

    @ParameterizedTest
    @CsvSource({
        "/body?status=200, If-None-Match: \"v\", 304",
        "/body?status=200, Accept: text/csv, 406",
        "/file, Range: bytes=0-1, 206",
        "/file, Range: bytes=99-, 416"
    })
    void status_thatTheRequestMakesOfA200_isCountedLikeThe200(String path, String header, int status) {
        assertCharged("successes", true, path, status, header);
    }

    @Test
    void conditional_whereFailuresAreCounted_isFree() {
        assertCharged("counting", false, "/body?status=200", 304, "If-None-Match: \"v\"");
    }
}
