package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The configurations of docs/migrate, exactly as written there, limit as the pages say. */
@Tag("servers")
class MigrationTest extends AppPerTest {

    @RestController
    static class Shop {

        @GetMapping("/api/orders")
        String api() {
            return "orders";
        }

        @GetMapping("/orders/{id}")
        String order() {
            return "order";
        }

        @GetMapping("/status")
        String status() {
            return "up";
        }

        @PostMapping("/login")
        String login() {
            throw new ResponseStatusException(HttpStatus.UNAUTHORIZED);
        }
    }

    static class Mails {

        @RateLimited(policy = "mails", fallback = "later")
        public String send(String to) {
            return "sent";
        }

        String later(String to, RateLimitExceededException refusal) {
            return "later";
        }
    }

    private RunningApp after(String page, Class<?> source, String... more) throws IOException {
        return start(List.of(source), RecipesTest.yaml("migrate/" + page, "\nAfter", more));
    }

    private static List<Integer> get(RunningApp site, int times, String path, String... headers) {
        return IntStream.range(0, times)
                .mapToObj(i -> site.get(path, headers).status())
                .toList();
    }

    private static List<Integer> logins(RunningApp site, int times) {
        return IntStream.range(0, times)
                .mapToObj(i ->
                        site.send("POST /login HTTP/1.1", "Content-Length: 0").status())
                .toList();
    }

    @Test
    void bucket4jStarter_tenPerKey_andFiveFailedLogins() throws IOException {
        RunningApp site = after("bucket4j.md", Shop.class);

        assertThat(get(site, 11, "/api/orders", "X-Api-Key: a")).endsWith(200, 429);
        assertThat(get(site, 11, "/api/orders")).endsWith(200, 429);
        assertThat(logins(site, 6)).containsExactly(401, 401, 401, 401, 401, 429);
    }

    @Test
    void resilience4j_fiveCallsAMinute_thenTheFallback() throws IOException {
        RunningApp site = after("resilience4j.md", Mails.class);
        Mails mails = site.bean(Mails.class);

        assertThat(IntStream.range(0, 6).mapToObj(i -> mails.send("a")).toList())
                .containsExactly("sent", "sent", "sent", "sent", "sent", "later");
        site.ticker().advance(Duration.ofMinutes(1));
        assertThat(mails.send("a")).isEqualTo("sent");
    }

    @Test
    void gateway_twentyAtOnce_thenTenPerSecond() throws IOException {
        RunningApp site = after("spring-cloud-gateway.md", Shop.class, "ratelimit.store.type=memory");

        assertThat(get(site, 1, "/orders/1")).containsExactly(400);
        assertThat(get(site, 21, "/orders/1", "X-Api-Key: a")).endsWith(200, 429);
        assertThat(site.get("/orders/1", "X-Api-Key: a").header("X-RateLimit-Remaining"))
                .isEqualTo("0");
        site.ticker().advance(Duration.ofMillis(100));
        assertThat(get(site, 2, "/orders/1", "X-Api-Key: a")).containsExactly(200, 429);
    }

    @Test
    void ipRateLimiting_generalRules_rulesOfAnAddress_andWhitelists() throws IOException {
        RunningApp site = after("aspnetcoreratelimit.md", Shop.class, "ratelimit.trusted-proxies=127.0.0.1");

        assertThat(get(site, 21, "/orders/1", "X-Forwarded-For: 198.51.100.1")).endsWith(200, 429);
        assertThat(get(site, 101, "/orders/1", "X-Forwarded-For: 203.0.113.9")).endsWith(200, 429);
        assertThat(get(site, 30, "/orders/1", "X-Forwarded-For: 192.168.0.1")).containsOnly(200);
        assertThat(get(site, 30, "/status", "X-Forwarded-For: 198.51.100.1")).containsOnly(200);
        assertThat(logins(site, 6)).containsExactly(401, 401, 401, 401, 401, 429);
    }
}
