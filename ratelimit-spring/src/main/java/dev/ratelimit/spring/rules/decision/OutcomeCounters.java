package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Several counters, each of which is told everything.
 *
 * @param counters in this order
 */
record OutcomeCounters(List<OutcomeCounter> counters) implements OutcomeCounter {

    @Override
    public void count(String policy, Outcome outcome) {
        counters.forEach(counter -> counter.count(policy, outcome));
    }

    @Override
    public void count(String policy, Outcome outcome, RequestContext request) {
        counters.forEach(counter -> counter.count(policy, outcome, request));
    }

    @Override
    public boolean readsEndpoints() {
        return counters.stream().anyMatch(OutcomeCounter::readsEndpoints);
    }

    @Override
    public void refused(String policy, String key) {
        counters.forEach(counter -> counter.refused(policy, key));
    }

    @Override
    public void refused(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        counters.forEach(counter -> counter.refused(policy, key, outcome, request));
    }

    @Override
    public void told(String policy, String key, RequestContext context, @Nullable Long retryAfterSeconds) {
        counters.forEach(counter -> counter.told(policy, key, context, retryAfterSeconds));
    }

    @Override
    public void waited(String policy, Outcome outcome, long nanos) {
        counters.forEach(counter -> counter.waited(policy, outcome, nanos));
    }

    @Override
    public Runnable held(Charge charge) {
        List<Runnable> returns =
                counters.stream().map(counter -> counter.held(charge)).toList();
        return () -> returns.forEach(Runnable::run);
    }
}
