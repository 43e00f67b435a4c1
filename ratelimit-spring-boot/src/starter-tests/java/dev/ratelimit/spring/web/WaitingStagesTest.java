package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Requests that wait before and after Spring Security, and stores that fail meanwhile. */
@Tag("servers")
class WaitingStagesTest {

    /** Says who asks. */
    @RestController
    static class Me {
        @GetMapping("/me")
        String me(Principal caller) {
            return caller.getName();
        }
    }

    /** A store that stops answering. */
    static final class FailingStore extends ForwardingStore {

        volatile boolean fails;

        FailingStore(Ticker ticker) {
            super(InMemoryStore.builder().ticker(ticker).build());
        }

        @Override
        public Decision decide(List<Charge> charges) {
            if (fails) {
                throw new StoreUnavailableException("api", Duration.ofSeconds(3), "on purpose");
            }
            return super.decide(charges);
        }
    }

    /** Uses that store. */
    @Configuration(proxyBeanMethods = false)
    static class Failing {
        @Bean
        FailingStore store(Ticker ticker) {
            return new FailingStore(ticker);
        }
    }

    private final ExecutorService client = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        client.shutdownNow();
    }

    private CompletableFuture<RawResponse> sendAndWait(RunningApp app, String policy, String path, String... headers) {
        CompletableFuture<RawResponse> answer = CompletableFuture.supplyAsync(() -> app.get(path, headers), client);
        await().until(() -> app.bean(WaitingRequests.class).waiting(policy) == 1);
        return answer;
    }

    @ParameterizedTest
    @MethodSource("dev.ratelimit.spring.RunningApp#servers")
    void requestsWait_beforeAndAfterSecurity(Server server) {
        try (RunningApp app = RunningApp.start(
                server,
                List.of(RunningApp.WithSecurity.class, Chains.KnownByToken.class, Me.class),
                "ratelimit.policies.early.limit=2/minute",
                "ratelimit.policies.early.burst=1",
                "ratelimit.policies.early.key=ip",
                "ratelimit.policies.early.on-exceeded.action=wait",
                "ratelimit.policies.early.on-exceeded.max-wait=1m",
                "ratelimit.policies.late.limit=1/minute",
                "ratelimit.policies.late.key=user",
                "ratelimit.policies.late.on-exceeded.action=wait",
                "ratelimit.policies.late.on-exceeded.max-wait=1m")) {
            assertThat(app.get("/me", "X-User: alice").status()).isEqualTo(200);

            CompletableFuture<RawResponse> answer = sendAndWait(app, "early", "/me", "X-User: alice");
            app.ticker().advance(Duration.ofSeconds(30));
            await().until(() -> app.bean(WaitingRequests.class).waiting("late") == 1);
            app.ticker().advance(Duration.ofSeconds(30));

            assertThat(answer.join().status()).isEqualTo(200);
            assertThat(answer.join().body()).isEqualTo("alice");
            app.awaitCounted("early", "waited", 1);
            app.awaitCounted("late", "waited", 1);

            CompletableFuture<RawResponse> stranger = CompletableFuture.supplyAsync(() -> app.get("/me"), client);
            assertThat(stranger.join().status()).isIn(401, 403);
        }
    }

    @Test
    void storeThatFails_whileRequestsWait_answersWith503() {
        try (RunningApp app = RunningApp.start(
                List.of(Failing.class, TestApi.class),
                "ratelimit.policies.api.limit=1/minute",
                "ratelimit.policies.api.retry-jitter.max=0s",
                "ratelimit.policies.api.on-exceeded.action=wait",
                "ratelimit.policies.api.on-exceeded.max-wait=1m")) {
            assertThat(app.get("/any").status()).isEqualTo(200);
            CompletableFuture<RawResponse> answer = sendAndWait(app, "api", "/any");

            app.bean(FailingStore.class).fails = true;
            app.ticker().advance(Duration.ofMinutes(1));

            assertThat(answer.join().status()).isEqualTo(503);
            assertThat(answer.join().header("Retry-After")).isEqualTo("3");
            app.awaitCounted("api", "unavailable", 1);
        }
    }
}
