package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The recipes of docs/recipes.md for limits of method calls, exactly as written there, do what the text says. */
@Tag("servers")
class CallRecipesTest extends AppPerTest {

    record Login(String username, String password) {}

    @RestController
    static class JsonLogin {

        private final AtomicInteger checked = new AtomicInteger();

        int checked() {
            return checked.get();
        }

        @PostMapping("/login")
        @RateLimited(policy = "failures-by-account")
        ResponseEntity<Void> login(@RequestBody Login login) {
            checked.incrementAndGet();
            return ResponseEntity.status(login.password().equals("secret") ? 204 : 401)
                    .build();
        }
    }

    static class TextMessages {

        @RateLimited(policy = "text-messages")
        @RateLimited(policy = "provider", cost = "#text.length() / 160 + 1")
        public void send(String number, String text) {}
    }

    private static int post(RunningApp site, String json) {
        return site.send(
                        "POST /login HTTP/1.1",
                        "Content-Type: application/json",
                        "Content-Length: " + json.length() + "\r\n\r\n" + json)
                .status();
    }

    private static int login(RunningApp site, String username, String password) {
        return post(site, "{\"username\":\"" + username + "\",\"password\":\"" + password + "\"}");
    }

    @Test
    void jsonLogin_failuresAreCountedByAccountAndAddress() throws IOException {
        RunningApp site = start(List.of(JsonLogin.class), RecipesTest.recipe("A login by JSON"));

        assertThat(IntStream.range(0, 100).map(i -> login(site, "alice", "secret")))
                .containsOnly(204);
        assertThat(IntStream.range(0, 10).map(i -> login(site, i % 2 == 0 ? "alice" : "ALICE", "guess" + i)))
                .containsExactly(401, 401, 401, 401, 401, 429, 429, 429, 429, 429);
        assertThat(login(site, "alice", "secret")).isEqualTo(429);
        assertThat(login(site, "bob", "secret")).isEqualTo(204);
        assertThat(post(site, "{\"password\":\"secret\"}")).isEqualTo(400);
        assertThat(post(site, "{\"username\":[\"alice\"]}")).isEqualTo(400);
        assertThat(IntStream.range(0, 20).map(i -> post(site, "{")).filter(status -> status == 400))
                .hasSize(14);
        assertThat(login(site, "bob", "secret")).isEqualTo(429);
    }

    @Test
    void jsonLogin_fiftyAtOnce_reachThePasswordAsOftenAsTheLimitPermits() throws Exception {
        RunningApp site = start(List.of(JsonLogin.class), RecipesTest.recipe("A login by JSON"));
        List<Thread> threads = IntStream.range(0, 50)
                .mapToObj(i -> new Thread(() -> login(site, "alice", "guess" + i)))
                .toList();

        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(site.bean(JsonLogin.class).checked()).isEqualTo(5);
    }

    @Test
    void textMessages_areChargedToTheNumberAndTheProvider_orToNeither() throws IOException {
        RunningApp site =
                start(List.of(TextMessages.class), RecipesTest.recipe("Mails, text messages, other services"));
        TextMessages messages = site.bean(TextMessages.class);

        messages.send("+41 1", "hello");
        RateLimitExceededException refusal = assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> messages.send("+41 1", "x".repeat(10_000)))
                .actual();
        assertThat(refusal.violatedPolicies()).containsExactly("text-messages");
        for (int i = 0; i < 15; i++) {
            messages.send("+41 2" + i, "x".repeat(10_000));
        }
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> messages.send("+41 3", "x".repeat(10_000)))
                .satisfies(refused -> assertThat(refused.violatedPolicies()).containsExactly("provider"));
        site.ticker().advance(Duration.ofSeconds(30));
        messages.send("+41 1", "hello");
    }
}
