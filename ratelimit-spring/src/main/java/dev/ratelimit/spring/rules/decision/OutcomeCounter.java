package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts the outcomes of requests. Called by many threads at once. */
@FunctionalInterface
public interface OutcomeCounter {

    /** Counts nothing, and costs nothing among {@linkplain #of several counters}. */
    OutcomeCounter NONE = (policy, key, outcome, request) -> {};

    /** The outcome of a request under one policy. */
    enum Outcome {
        /** The request was charged and admitted. */
        ADMITTED,
        /** The request was charged and admitted, after it had waited for its permits. */
        WAITED,
        /** The policy refused the request. */
        REFUSED,
        /** The policy refused the request, and the refusal was held back. */
        DELAYED,
        /** The policy would have refused the request, but it is in shadow mode. */
        SHADOW_REFUSED,
        /** The request or its key is exempt from all policies. */
        EXEMPT,
        /** The key of the request has no limit. */
        UNLIMITED,
        /** The store did not answer, and the policy then refuses all requests. */
        UNAVAILABLE;

        /** Whether limits refused the request, or would have without shadow mode. */
        public boolean isRefusal() {
            return this == REFUSED || this == DELAYED || this == SHADOW_REFUSED;
        }

        /** The value of the tag in metrics. */
        public String tag() {
            return PropertyName.of(this);
        }
    }

    /**
     * Counts one request under this policy.
     *
     * @param key whose request it is; {@code null} if it lacks a part of the key, or if its key does not matter
     * @param request only to be used until this method returns
     */
    void count(String policy, @Nullable String key, Outcome outcome, RequestContext request);

    /** Whether it counts by endpoint, so that the endpoint of each request must be known. By default, it does not. */
    default boolean readsEndpoints() {
        return false;
    }

    /**
     * Tells how long a request has waited for permits of this policy, in addition to counting it. By default, nothing is
     * done with it.
     *
     * @param outcome waited if it got them, refused if it did not
     */
    default void waited(String policy, Outcome outcome, long nanos) {}

    /**
     * Tells that an admitted request or call holds permits of a concurrency limit. By default, nothing is done with it.
     *
     * @return to be called when they come back, by any thread and perhaps several times
     */
    default Runnable held(Charge charge) {
        return () -> {};
    }

    /**
     * Tells what the own limits of a policy, not those of a plan or an override, have decided about a request that no other
     * policy refuses, in addition to counting it. By default, nothing is done with it.
     *
     * @param charge what the policy charges, or would charge
     * @param refused whether the policy refuses the request, or would without shadow mode
     * @param request only to be used until this method returns
     * @return to be called if the charge is given back, by any thread and perhaps several times; {@code null} for nobody
     */
    default @Nullable Runnable decided(Rule rule, Charge charge, boolean refused, RequestContext request) {
        return null;
    }

    /** A counter that passes everything on to all of these. */
    static OutcomeCounter of(List<OutcomeCounter> all) {
        List<OutcomeCounter> counters =
                all.stream().filter(counter -> counter != NONE).toList();
        return counters.size() == 1 ? counters.get(0) : new Several(counters);
    }

    /**
     * Several counters, each of which is told everything.
     *
     * @param counters in this order
     */
    record Several(List<OutcomeCounter> counters) implements OutcomeCounter {

        @Override
        public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
            // of each request: without an iterator
            for (int i = 0; i < counters.size(); i++) {
                counters.get(i).count(policy, key, outcome, request);
            }
        }

        @Override
        public boolean readsEndpoints() {
            return counters.stream().anyMatch(OutcomeCounter::readsEndpoints);
        }

        @Override
        public void waited(String policy, Outcome outcome, long nanos) {
            counters.forEach(counter -> counter.waited(policy, outcome, nanos));
        }

        @Override
        public @Nullable Runnable decided(Rule rule, Charge charge, boolean refused, RequestContext request) {
            Runnable told = null;
            for (int i = 0; i < counters.size(); i++) {
                Runnable one = counters.get(i).decided(rule, charge, refused, request);
                if (one != null) {
                    Runnable before = told == null ? () -> {} : told;
                    told = () -> {
                        before.run();
                        one.run();
                    };
                }
            }
            return told;
        }

        @Override
        public Runnable held(Charge charge) {
            List<Runnable> returns =
                    counters.stream().map(counter -> counter.held(charge)).toList();
            return () -> returns.forEach(Runnable::run);
        }
    }
}
