package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts and times decisions.
 *
 * <p>{@code ratelimit.requests} with {@code policy} and {@code outcome}: a request that is admitted counts as such under each
 * policy that applied, one that is refused under each policy that refused it. {@code ratelimit.decision} with {@code store}
 * is the time of a whole decision. No tag comes from a request.
 */
final class MeteredStore implements RateLimitStore {

    private record Outcomes(Counter admitted, Counter refused) {}

    private final RateLimitStore store;
    private final MeterRegistry registry;
    private final Timer decisions;
    private final Map<String, Outcomes> outcomes = new ConcurrentHashMap<>();

    MeteredStore(RateLimitStore store, MeterRegistry registry) {
        this.store = store;
        this.registry = registry;
        String kind = store instanceof InMemoryStore ? "memory" : "custom";
        this.decisions = Timer.builder("ratelimit.decision")
                .description("Time to decide a request over all its limits")
                .tag("store", kind)
                .register(registry);
    }

    @Override
    public Decision decide(List<Charge> charges) {
        Decision decision = Objects.requireNonNull(decisions.record(() -> store.decide(charges)));
        if (decision.admitted()) {
            charges.forEach(charge -> outcomes(charge.policy()).admitted().increment());
        } else {
            decision.violated().stream()
                    .map(LimitStatus::policy)
                    .distinct()
                    .forEach(policy -> outcomes(policy).refused().increment());
        }
        return decision;
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

    private Outcomes outcomes(Policy policy) {
        Outcomes known = outcomes.get(policy.name());
        return known != null
                ? known
                : outcomes.computeIfAbsent(
                        policy.name(), name -> new Outcomes(counter(name, "admitted"), counter(name, "refused")));
    }

    private Counter counter(String policy, String outcome) {
        return Counter.builder("ratelimit.requests")
                .description("Requests by the policies that admitted or refused them")
                .tag("policy", policy)
                .tag("outcome", outcome)
                .register(registry);
    }
}
