package dev.ratelimit.benchmarks.spring;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.history.ChangeStore;
import dev.ratelimit.spring.rules.history.OperatorActions;
import dev.ratelimit.spring.rules.override.KeyOverrides;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;

/**
 * What it costs to find the rules of a request and what they charge, without asking the store: with overrides of other
 * keys that operators have set, and without.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class OverridesBenchmark {

    private static final int KEYS = 1024;
    private static final PathContainer PATH = PathContainer.parsePath("/orders/17");

    /** The key of the policy. */
    @Param({"header:X-Id", "ip"})
    public String key = "";

    /** How many overrides there are, each of another key. */
    @Param({"0", "10000"})
    public int overrides;

    private final RateLimitStore store = InMemoryStore.builder().build();
    private final WebRequest[] requests = new WebRequest[KEYS];
    private RequestRules rules = rules("ip");
    private int next;

    /** A request of this caller. */
    private record Request(String id, String remoteAddress) implements WebRequest {

        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String url() {
            return "http://localhost/orders/17";
        }

        @Override
        public PathContainer path() {
            return PATH;
        }

        @Override
        public @Nullable String query() {
            return null;
        }

        @Override
        public List<String> headers(String name) {
            return name.equals("X-Id") ? List.of(id) : List.of();
        }

        @Override
        public Collection<String> headerNames() {
            return List.of("X-Id");
        }

        @Override
        public long contentLength() {
            return 0;
        }

        @Override
        public List<HttpCookie> cookies() {
            return List.of();
        }

        @Override
        public List<String> parameters(String name) {
            return List.of();
        }

        @Override
        public Collection<String> parameterNames() {
            return List.of();
        }

        @Override
        public @Nullable Principal principal() {
            return null;
        }

        @Override
        public boolean hasRole(String role) {
            return false;
        }

        @Override
        public @Nullable String sessionId() {
            return null;
        }

        @Override
        public @Nullable Object attribute(String name) {
            return null;
        }

        @Override
        public <T> @Nullable T unwrap(Class<T> type) {
            return null;
        }
    }

    private static RequestRules rules(String key) {
        return RequestRules.withoutRequests(
                Objects.requireNonNull(new Binder(new MapConfigurationPropertySource(
                                Map.of("ratelimit.policies.p.limit", "100/hour", "ratelimit.policies.p.key", key)))
                        .bind("ratelimit", RateLimitProperties.class)
                        .get()),
                new StaticListableBeanFactory(),
                text -> text,
                limit -> {});
    }

    /** Sets the overrides. */
    @Setup
    public void override() {
        rules = rules(key);
        KeyOverrides live = new KeyOverrides(
                rules,
                new ChangeStore(Ticker.system()),
                Scheduler.system(),
                text -> text,
                new OperatorActions(() -> null, List.of(), List.of(), event -> {}, false));
        for (int i = 0; i < overrides; i++) {
            String other = key.equals("ip") ? "11.0." + i / 256 + "." + i % 256 : "other-" + i;
            live.set("p", other, KeyOverride.blocked(), null);
        }
        for (int i = 0; i < KEYS; i++) {
            requests[i] = new Request("user-" + i, "10.0." + i / 256 + "." + i % 256);
        }
    }

    /** Applies the rules. */
    @Benchmark
    public Object apply() {
        RulesInForce now = rules.inForce();
        WebRequest request = requests[next++ & KEYS - 1];
        return now.applyTo(now.context(request), null, store);
    }
}
