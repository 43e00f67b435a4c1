package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.Rejection;
import dev.ratelimit.spring.RunningApp;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Limits by the arguments of handlers, and of beans that handlers call, over HTTP. */
@Tag("servers")
class HandlerArgumentsTest {

    record Login(String username, String password) {}

    static class Mails {

        @RateLimited(value = "2/hour", key = "#a0")
        public String send(String to) {
            return "sent to " + to;
        }
    }

    @RestController
    static class Pages {

        private final Mails mails;

        Pages(Mails mails) {
            this.mails = mails;
        }

        @PostMapping("/by-name")
        @RateLimited(value = "2/hour", key = "#login.username")
        String byName(@RequestBody Login login) {
            return login.username();
        }

        @PostMapping("/failures")
        @RateLimited(policy = "failures")
        ResponseEntity<String> failures(@RequestBody Login login) {
            return ResponseEntity.status(login.password().equals("secret") ? 200 : 401)
                    .body(login.username());
        }

        @PostMapping("/cost")
        @RateLimited(value = "10/hour", key = "ip", cost = "#login.username.length()")
        String cost(@RequestBody Login login) {
            return login.username();
        }

        @GetMapping("/fallback/{id}")
        @RateLimited(value = "1/hour", key = "#id", fallback = "cached")
        String fallback(@PathVariable String id) {
            return "fresh " + id;
        }

        String cached(String id, Exception refusal) {
            return "cached " + id + " as " + refusal.getMessage();
        }

        @GetMapping("/before")
        @RateLimited(value = "3/hour", key = "ip")
        String before() {
            return "before";
        }

        @PostMapping("/both")
        @RateLimited(value = "10/hour", key = "ip", name = "both by ip")
        @RateLimited(value = "1/hour", key = "#login.username", name = "both by name")
        String both(@RequestBody Login login) {
            return login.username();
        }

        @GetMapping("/mail/{to}")
        String mail(@PathVariable String to) {
            return mails.send(to);
        }

        @GetMapping("/mail-later/{to}")
        CompletableFuture<String> mailLater(@PathVariable String to) {
            return CompletableFuture.supplyAsync(() -> mails.send(to));
        }

        @GetMapping("/own")
        String own() {
            throw new CompletionException(new RateLimitExceededException(new Rejection(
                    Rejection.Reason.EXCEEDED, 429, List.of("own"), Duration.ofMillis(6_500), "Too many of them.")));
        }
    }

    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler
        ResponseEntity<String> any(Exception e) {
            return ResponseEntity.status(500).body(e.toString());
        }
    }

    private static RunningApp app;

    @BeforeAll
    static void start() {
        app = RunningApp.start(
                List.of(Mails.class, Pages.class, Advice.class),
                "ratelimit.policies.all.limit=1000/hour",
                "ratelimit.policies.all.key=ip",
                "ratelimit.policies.failures.limit=2/hour",
                "ratelimit.policies.failures.key=#login.username",
                "ratelimit.policies.failures.missing-key=reject",
                "ratelimit.policies.failures.free=2xx",
                "ratelimit.policies.failures.match.annotated=true");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    private static RawResponse post(String path, String json) {
        return app.send(
                "POST " + path + " HTTP/1.1",
                "Content-Type: application/json",
                "Content-Length: " + json.length() + "\r\n\r\n" + json);
    }

    private static RawResponse login(String path, String username, String password) {
        return post(path, "{\"username\":\"" + username + "\",\"password\":\"" + password + "\"}");
    }

    private static int remaining(RawResponse response) {
        String field = Objects.requireNonNull(response.header("RateLimit"));
        return Integer.parseInt(field.replaceAll(".*\"all\";r=(\\d+).*", "$1"));
    }

    @Test
    void keyFromABody_limitsEachNameAlone_andARefusalCostsNothing() {
        int before = remaining(login("/by-name", "alice", ""));
        assertThat(login("/by-name", "alice", "").status()).isEqualTo(200);

        RawResponse refused = login("/by-name", "alice", "");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isBetween("1800", "1801");
        assertThat(refused.header("Cache-Control")).isEqualTo("no-store");
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.body()).contains("\"violated-policies\":[\"Pages.byName\"]");
        assertThat(remaining(refused)).isEqualTo(before - 1);
        assertThat(remaining(login("/by-name", "bob", ""))).isEqualTo(before - 2);
        app.awaitCounted("Pages.byName", "refused", 1);
        app.awaitCounted("Pages.byName", "admitted", 3);
    }

    @Test
    void requestWhoseArgumentsCannotBeBound_isChargedByTheFilterOnly() {
        long admitted = app.counted("all", "admitted");

        // the advice of this application turns all exceptions into this status
        assertThat(post("/by-name", "{").status()).isEqualTo(500);

        app.awaitCounted("all", "admitted", admitted + 1);
    }

    @Test
    void policy_withAKeyOfArguments_settlesByStatus() {
        for (int i = 0; i < 5; i++) {
            assertThat(login("/failures", "alice", "secret").status()).isEqualTo(200);
        }
        assertThat(login("/failures", "alice", "guess").status()).isEqualTo(401);
        assertThat(login("/failures", "alice", "guess").status()).isEqualTo(401);
        assertThat(login("/failures", "alice", "secret").status()).isEqualTo(429);
        assertThat(login("/failures", "bob", "secret").status()).isEqualTo(200);
        assertThat(post("/failures", "{\"password\":\"secret\"}").status()).isEqualTo(400);
    }

    @Test
    void cost_fromABody_isCharged() {
        assertThat(login("/cost", "sixsix", "").status()).isEqualTo(200);
        assertThat(login("/cost", "fives", "").status()).isEqualTo(429);
        assertThat(login("/cost", "four", "").status()).isEqualTo(200);
        assertThat(login("/cost", "elevenseven", "").header("Retry-After")).isNull();
    }

    @Test
    void fallback_answersTheRequest_whichStaysCharged() {
        int before = remaining(app.get("/before"));

        assertThat(app.get("/fallback/1").body()).isEqualTo("fresh 1");
        RawResponse refused = app.get("/fallback/1");

        assertThat(refused.status()).isEqualTo(200);
        assertThat(refused.body()).startsWith("cached 1 as Limit 'Pages.fallback' of 1 per hour is exceeded.");
        assertThat(remaining(refused)).isEqualTo(before - 2);
        assertThat(app.get("/fallback/2").body()).isEqualTo("fresh 2");
        app.awaitCounted("Pages.fallback", "refused", 1);
    }

    @Test
    void annotationWithoutArguments_onTheSameController_isChargedOnceByTheFilter() {
        long admitted = app.counted("Pages.before", "admitted");
        while (app.get("/before").status() == 200) {
            admitted++;
        }

        assertThat(app.counted("Pages.before", "admitted")).isEqualTo(3).isEqualTo(admitted);
    }

    @Test
    void limitsOfBothKinds_areChargedTogetherOrNotAtAll() {
        RawResponse first = login("/both", "alice", "");
        assertThat(first.header("RateLimit")).contains("\"both by ip\";r=9");
        for (int i = 0; i < 20; i++) {
            assertThat(login("/both", "alice", "").body()).contains("[\"both by name\"]");
        }

        assertThat(login("/both", "bob", "").header("RateLimit")).contains("\"both by ip\";r=8");
    }

    @Test
    void refusalOfABean_thatLeavesTheController_isAnswered_butTheRequestStaysCharged() {
        int before = remaining(app.get("/mail/a"));
        assertThat(app.get("/mail/a").body()).isEqualTo("sent to a");

        RawResponse refused = app.get("/mail/a");
        RawResponse refusedLater = app.get("/mail-later/a");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isBetween("1800", "1801");
        assertThat(refused.body()).contains("\"violated-policies\":[\"Mails.send\"]");
        assertThat(remaining(refused)).isEqualTo(before - 2);
        assertThat(refusedLater.status()).isEqualTo(429);
        assertThat(refusedLater.body()).contains("\"violated-policies\":[\"Mails.send\"]");
        assertThat(app.get("/mail/b").status()).isEqualTo(200);
    }

    @Test
    void refusalOfTheApplicationsOwn_isAnsweredAlike() {
        RawResponse refused = app.get("/own");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isEqualTo("7");
        assertThat(refused.body()).contains("\"detail\":\"Too many of them.\"");
    }
}
