package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.Users;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * With Spring Security: rules that need no user charge before it, all others after it, and a request is charged to all
 * or none.
 */
@Tag("servers")
class StagesTest {

    private RunningApp app = start();

    @AfterEach
    void stop() {
        app.close();
    }

    private static RunningApp start(String... properties) {
        return RunningApp.start(
                List.of(RunningApp.WithSecurity.class, Users.class, Chains.OrdersNeedLogin.class, TestApi.class),
                properties);
    }

    private void restart(String... properties) {
        app.close();
        app = start(properties);
    }

    /** The response may arrive before the server has completed the request. */
    private long chargedToThePeer() {
        Policy login = Policy.of("login", TokenBucket.of(Rate.parse("5/hour")));
        return 5
                - app.bean(RateLimiter.class)
                        .peek(login.charge("a9:127.0.0.1"))
                        .limits()
                        .get(0)
                        .remaining();
    }

    private int passwordChecks() {
        return app.bean(Users.class).checks();
    }

    @Test
    void badLogins_areRefusedBeforeAPasswordIsChecked() {
        restart("ratelimit.policies.login.limit=5/hour", "ratelimit.policies.login.key=ip");

        for (int i = 0; i < 10; i++) {
            assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(i < 5 ? 401 : 429);
        }

        assertThat(passwordChecks()).isEqualTo(5);
    }

    @Test
    @DisplayName("C13 of 50 parallel logins, at most the limit reach the password check")
    void badLogins_inParallel_areNoMoreThanTheLimit() throws Exception {
        restart(
                "ratelimit.policies.login.limit=5/hour",
                "ratelimit.policies.login.key=ip",
                "ratelimit.policies.login.count=401");

        Callable<RawResponse> login = () -> app.getAs("alice:wrong", "/orders/1");
        ExecutorService browsers = Executors.newFixedThreadPool(50);
        List<Future<RawResponse>> answers = browsers.invokeAll(Collections.nCopies(50, login));
        browsers.shutdown();

        for (Future<RawResponse> answer : answers) {
            assertThat(answer.get().status()).isIn(401, 429);
        }
        assertThat(passwordChecks()).isBetween(1, 5);
    }

    @Test
    void goodLogins_areNotCounted_whereOnlyFailuresAre() {
        restart(
                "ratelimit.policies.login.limit=5/hour",
                "ratelimit.policies.login.key=ip",
                "ratelimit.policies.login.count=401");

        for (int i = 0; i < 20; i++) {
            assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(200);
            await().until(() -> chargedToThePeer() == 0);
        }
        for (int i = 0; i < 10; i++) {
            assertThat(app.getAs("alice:wrong", "/orders/1").status()).isEqualTo(i < 5 ? 401 : 429);
        }
    }

    @Test
    void refusedAfterSecurity_refundsWhatTheStageBeforeCharged() {
        restart(
                "ratelimit.policies.global.limit=10/hour",
                "ratelimit.expose-shared=true",
                "ratelimit.policies.per-user.limit=2/hour",
                "ratelimit.policies.per-user.key=user");
        for (int i = 0; i < 2; i++) {
            assertThat(app.getAs("alice", "/orders/1").status()).isEqualTo(200);
        }

        for (int i = 0; i < 5; i++) {
            RawResponse refused = app.getAs("alice", "/orders/1");
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.header("RateLimit")).isEqualTo("\"global\";r=8;t=360, \"per-user\";r=0;t=1800");
        }

        RawResponse bob = app.getAs("bob", "/orders/1");
        assertThat(bob.header("RateLimit")).isEqualTo("\"global\";r=7;t=360, \"per-user\";r=1;t=1800");
        app.awaitCounted("global", "admitted", 3);
        assertThat(app.counted("global", "refused")).isZero();
        app.awaitCounted("per-user", "admitted", 3);
        app.awaitCounted("per-user", "refused", 5);
    }

    @Test
    void users_haveBudgetsOfTheirOwn_alsoOneThatIsCalledLikeAnAddress() {
        restart("ratelimit.policies.per-user.limit=2/hour", "ratelimit.policies.per-user.key=user");

        for (String user : List.of("alice", "bob", "127.0.0.1")) {
            assertThat(app.getAs(user, "/any").status()).isEqualTo(200);
            assertThat(app.getAs(user, "/orders/1").status()).isEqualTo(200);
            assertThat(app.getAs(user, "/any").status()).isEqualTo(429);
        }
        assertThat(app.get("/any").status()).isEqualTo(200); // the address itself
    }

    @Test
    void unauthenticated_paysWhatNeedsNoUser() {
        restart(
                "ratelimit.policies.ip.limit=100/hour",
                "ratelimit.policies.ip.key=ip",
                "ratelimit.policies.per-user.limit=100/hour",
                "ratelimit.policies.per-user.key=user");

        assertThat(app.get("/orders/1").status()).isEqualTo(401);

        app.awaitCounted("ip", "admitted", 1);
        assertThat(app.counted("per-user", "admitted")).isZero();
    }

    @RestController
    static class Costs {

        @GetMapping("/any/inline")
        @RateLimited(value = "10/hour", key = "ip", name = "inline", cost = "#principal == null ? 10 : 1")
        String inline() {
            return "";
        }

        @GetMapping("/any/named")
        @RateLimited(policy = "named", cost = "#request.remoteUser == null ? 10 : 1")
        String named() {
            return "";
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inline", "named"})
    void costOfAnAnnotation_byThePrincipal_isKnownAfterSecurity(String policy) {
        app.close();
        app = RunningApp.start(
                List.of(RunningApp.WithSecurity.class, Users.class, Chains.OrdersNeedLogin.class, Costs.class),
                "ratelimit.policies.named.limit=10/hour",
                "ratelimit.policies.named.match.annotated=true");

        assertThat(app.getAs("alice", "/any/" + policy).status()).isEqualTo(200);
        assertThat(app.getAs("alice", "/any/" + policy).status()).isEqualTo(200);
        assertThat(app.get("/any/" + policy).status()).isEqualTo(429);
    }

    @Test
    void stage_canBeChosen() {
        restart(
                "ratelimit.policies.early.limit=1/hour",
                "ratelimit.policies.early.key=#request.getHeader('X-A')",
                "ratelimit.policies.early.stage=before-security",
                "ratelimit.policies.late.limit=100/hour",
                "ratelimit.policies.late.stage=after-security");

        assertThat(app.get("/orders/1", "X-A: a").status()).isEqualTo(401);
        assertThat(app.get("/orders/1", "X-A: a").status()).isEqualTo(429);
        assertThat(app.get("/any", "X-A: b").status()).isEqualTo(200);

        app.awaitCounted("late", "admitted", 1);
    }
}
