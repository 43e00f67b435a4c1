package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Objects;

/** Times decisions: {@code ratelimit.decision} with {@code store} is the time of a whole decision. */
final class MeteredStore implements RateLimitStore {

    private final RateLimitStore store;
    private final Timer decisions;

    MeteredStore(RateLimitStore store, MeterRegistry registry) {
        this.store = store;
        this.decisions = Timer.builder("ratelimit.decision")
                .description("Time to decide a request over all its limits")
                .tag("store", kind(store))
                .register(registry);
    }

    /** By the name of its class, since the one on Redis may be missing. */
    private static String kind(RateLimitStore store) {
        return switch (store.getClass().getName()) {
            case "dev.ratelimit.memory.InMemoryStore" -> "memory";
            case "dev.ratelimit.redis.RedisStore" -> "redis";
            default -> "custom";
        };
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return Objects.requireNonNull(decisions.record(() -> store.decide(charges)));
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return store.peek(charges);
    }

    @Override
    public void refund(List<Charge> charges, Decision decision) {
        store.refund(charges, decision);
    }

    @Override
    public void reset(Policy policy, String key) {
        store.reset(policy, key);
    }
}
