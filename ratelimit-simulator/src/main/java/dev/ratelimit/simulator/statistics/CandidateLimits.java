package dev.ratelimit.simulator.statistics;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.simulator.config.ChangedPolicy;
import dev.ratelimit.simulator.config.ConfigurationMistakeException;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Passage;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.replay.VirtualClock;
import dev.ratelimit.simulator.statistics.LimitCurve.Candidate;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Charges all requests to limits below and above those of each policy, in one pass. Not thread-safe. */
public final class CandidateLimits implements ReplayObserver {

    /** From an eighth to eight times the limit. */
    private static final int STEPS = 6;

    private static final double STEP = Math.sqrt(2);

    /** The candidates of one policy, each with a store of its own. */
    private static final class Candidates {

        private final List<Policy> policies;
        private final int now;
        private final @Nullable FreeStatuses free;
        private final InMemoryStore[] stores;
        private final Peak[] peaks;
        private final long[] refused;

        /** Of each key, a bit for each candidate that has refused it. */
        private final Map<String, int[]> touched = new HashMap<>();

        private long requests;

        Candidates(List<Policy> policies, int now, @Nullable FreeStatuses free) {
            this.policies = policies;
            this.now = now;
            this.free = free;
            this.stores = new InMemoryStore[policies.size()];
            this.peaks = new Peak[policies.size()];
            this.refused = new long[policies.size()];
        }

        /** Charges a request and, if its status is free, gives the permits back when it ends. */
        void charge(Charge charge, LoggedRequest request, VirtualClock clock) {
            boolean isFree = free != null && request.isFree(free);
            requests++;
            int[] bits = touched.get(charge.key());
            if (bits == null) {
                bits = new int[1];
                if (touched.size() < PolicyStatistics.MAX_KEYS) {
                    touched.put(charge.key(), bits);
                }
            }
            for (int i = 0; i < stores.length; i++) {
                InMemoryStore store = stores[i];
                Charge varied = policies.get(i).charge(charge.key(), charge.permits());
                Decision decision = isFree ? store.decide(List.of(varied)) : null;
                if (decision == null ? store.tryCharge(varied) : decision.admitted()) {
                    peaks[i].add(clock.nanos(), charge.permits());
                    if (decision != null) {
                        clock.atEnd(request, () -> store.refund(decision));
                    }
                } else {
                    refused[i]++;
                    bits[0] |= 1 << i;
                }
            }
        }

        LimitCurve curve(String policy) {
            List<Candidate> all = new ArrayList<>();
            for (int i = 0; i < policies.size(); i++) {
                int bit = 1 << i;
                long keys = touched.values().stream()
                        .filter(bits -> (bits[0] & bit) != 0)
                        .count();
                long permits = policies.get(i).limits().get(0).rate().permits();
                all.add(new Candidate(
                        policies.get(i), permits, keys, touched.size(), refused[i], requests, peaks[i].max()));
            }
            return new LimitCurve(policy, all, now);
        }
    }

    private final Map<String, Candidates> candidates = new LinkedHashMap<>();
    private final VirtualClock clock = new VirtualClock();

    /**
     * Creates candidates for the policies that limit a rate by one limit.
     *
     * @param limits whose policies are varied
     */
    public CandidateLimits(SimulatedLimits limits) {
        for (Policy policy : limits.rules().policiesInForce()) {
            PolicyProperties written = limits.properties().policies().get(policy.name());
            boolean one = written != null
                    && written.limit() != null
                    && written.plans().isEmpty();
            if (written != null
                    && one
                    && !policy.concurrency()
                    && policy.limits().size() == 1) {
                candidates.put(policy.name(), candidates(limits, policy, written));
            }
        }
    }

    private Candidates candidates(SimulatedLimits limits, Policy policy, PolicyProperties written) {
        Rate rate = policy.limits().get(0).rate();
        long[] permits = LongStream.rangeClosed(-STEPS, STEPS)
                .map(step -> Math.max(1, Math.round(rate.permits() * Math.pow(STEP, (double) step))))
                .distinct()
                .toArray();
        List<Policy> all = new ArrayList<>();
        int now = 0;
        for (long each : permits) {
            Policy varied = each == rate.permits() ? policy : varied(limits, policy, written, each);
            if (varied != null) {
                now = each == rate.permits() ? all.size() : now;
                all.add(varied);
            }
        }
        FreeStatuses free = limits.rules().inForce().rule(policy.name()).free();
        Candidates created = new Candidates(all, now, free);
        Arrays.setAll(created.stores, i -> {
            InMemoryStore.Builder store = InMemoryStore.builder().ticker(clock);
            limits.properties().maxKeys().forEach(store::maxKeys);
            return store.build();
        });
        Arrays.setAll(created.peaks, i -> new Peak(rate.periodNanos()));
        return created;
    }

    /** The policy with other permits, and a burst in proportion; {@code null} if it cannot have them. */
    private static @Nullable Policy varied(
            SimulatedLimits limits, Policy policy, PolicyProperties written, long permits) {
        Rate rate = policy.limits().get(0).rate();
        String text = rate.toString();
        Long burst = written.burst();
        Long scaled = burst == null ? null : Math.max(1, Math.round((double) burst * permits / rate.permits()));
        PolicyProperties changed = ChangedPolicy.withLimit(
                written, permits + text.substring(text.indexOf('/')), written.algorithm(), scaled);
        try {
            return limits.withPolicies(Map.of(policy.name(), changed))
                    .rules()
                    .inForce()
                    .rule(policy.name())
                    .policy();
        } catch (ConfigurationMistakeException e) {
            return null;
        }
    }

    @Override
    public void passed(Passage passage) {
        clock.advanceTo(passage.nanos());
        for (int i = 0; i < passage.charges().size(); i++) {
            Charge charge = passage.charges().get(i);
            Candidates all = candidates.get(charge.policy().name());
            if (all != null) {
                all.charge(charge, passage.request(), clock);
            }
        }
    }

    /** What each policy's candidates have done. */
    public List<LimitCurve> curves() {
        List<LimitCurve> curves = new ArrayList<>();
        candidates.forEach((name, all) -> curves.add(all.curve(name)));
        return curves;
    }
}
