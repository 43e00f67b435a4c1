package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** The property {@code penalty} applies to all limits of a policy, also to those of plans and overrides. */
class PenaltyTest {

    private final FakeTicker ticker = new FakeTicker();
    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

    private RequestLimiter limits(Map<String, String> policy) {
        beans.registerSingleton("plans", (PlanResolver) request -> request.header("X-Plan"));
        RateLimitProperties properties = properties(policy);
        RequestRules rules = new RequestRules(properties, beans, text -> text, limit -> {});
        rules.enforce(RecordedRequest.leadingTo(Endpoint.UNMAPPED));
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        return new RequestLimiter(
                rules,
                properties,
                new WaitingRequests(rules, store, ticker, ticker),
                (name, key, outcome, request) -> {},
                ticker,
                null);
    }

    private static RateLimitProperties properties(Map<String, String> policy) {
        Map<String, String> written = new TreeMap<>();
        policy.forEach((name, value) -> written.put("ratelimit.policies.login." + name, value));
        return new Binder(new MapConfigurationPropertySource(written))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
    }

    private static boolean admits(RequestLimiter limits, String user, String plan) {
        RecordedRequest request = new RecordedRequest("GET", "/").by(user).with("X-Plan", plan);
        return !limits.charge(null, request).isRefused();
    }

    @Test
    void penalty_refusedUser_staysRefused() {
        RequestLimiter limits = limits(Map.of("limit", "1/second; 10/day", "key", "user", "penalty", "10m"));
        assertThat(admits(limits, "alice", "")).isTrue();
        assertThat(admits(limits, "alice", "")).isFalse();

        ticker.advance(Duration.ofMinutes(10).minusNanos(1));
        assertThat(admits(limits, "alice", "")).isFalse();
        assertThat(admits(limits, "bob", "")).isTrue();
        ticker.advanceNanos(1);
        assertThat(admits(limits, "alice", "")).isTrue();
    }

    @Test
    void penalty_plansAndOverrides_haveItToo() {
        RequestLimiter limits = limits(Map.of(
                "limit", "100/second",
                "key", "user",
                "penalty", "10m",
                "plans.free", "1/second",
                "overrides[eve]", "1/minute"));
        for (String user : new String[] {"alice", "eve"}) {
            assertThat(admits(limits, user, "free")).isTrue();
            assertThat(admits(limits, user, "free")).isFalse();

            ticker.advance(Duration.ofMinutes(10).minusNanos(1));
            assertThat(admits(limits, user, "free")).isFalse();
            ticker.advanceNanos(1);
            assertThat(admits(limits, user, "free")).isTrue();
        }
    }

    @Test
    void describe_penalty_isNamed() {
        PolicyRules rules = new PolicyRules(
                properties(Map.of("limit", "5/minute", "penalty", "90m")), Map.of(), Map.of(), beans, limit -> {});

        assertThat(rules.rules().get(0).describe())
                .startsWith("'login': 5/minute (token-bucket) with a penalty of 90m");
    }
}
