package dev.ratelimit.simulator.statistics;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.simulator.replay.Passage;
import dev.ratelimit.simulator.replay.Passage.Refusal;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a replay has shown. Not thread-safe. */
public final class ReplayStatistics implements ReplayObserver {

    private static final long SECOND = 1_000_000_000L;

    private final Map<String, PolicyStatistics> policies = new LinkedHashMap<>();
    private final TimeSeries series = new TimeSeries();
    private final Peak perSecond = new Peak(SECOND);
    private final InFlight inFlight = new InFlight();
    private long requests;
    private long refused;
    private long firstNanos = Long.MAX_VALUE;
    private long lastNanos = Long.MIN_VALUE;

    /**
     * Creates statistics of no requests yet.
     *
     * @param all the policies that may charge
     */
    public ReplayStatistics(List<Policy> all) {
        for (Policy policy : all) {
            long period = policy.limits().get(0).rate().periodNanos();
            policies.put(policy.name(), new PolicyStatistics(policy.name(), period));
        }
    }

    private PolicyStatistics of(String policy) {
        PolicyStatistics known = policies.get(policy);
        if (known == null) {
            known = new PolicyStatistics(policy, 60 * SECOND);
            policies.put(policy, known);
        }
        return known;
    }

    @Override
    public void counted(String policy, Outcome outcome) {
        of(policy).count(outcome);
    }

    @Override
    public void asked(Charge charge, long nanos) {
        of(charge.policy().name()).ask(nanos, charge.key(), charge.permits());
    }

    @Override
    public void passed(Passage passage) {
        long nanos = passage.nanos();
        boolean isRefused = passage.isRefused();
        requests++;
        firstNanos = Math.min(firstNanos, nanos);
        lastNanos = Math.max(lastNanos, nanos);
        long end = passage.endNanos();
        series.add(end, isRefused);
        for (int i = 0; i < passage.charges().size(); i++) {
            Charge charge = passage.charges().get(i);
            PolicyStatistics policy = of(charge.policy().name());
            if (!isRefused && !refuses(passage, policy.name())) {
                policy.admit(end, charge.permits());
            }
        }
        for (Refusal refusal : passage.refusals()) {
            of(refusal.policy()).refuse(end, refusal.key());
        }
        if (isRefused) {
            refused++;
        } else {
            perSecond.add(end, 1);
            LoggedRequest request = passage.request();
            inFlight.add(end, request.durationNanos());
        }
    }

    private static boolean refuses(Passage passage, String policy) {
        for (Refusal refusal : passage.refusals()) {
            if (refusal.policy().equals(policy)) {
                return true;
            }
        }
        return false;
    }

    /** How many requests there were. */
    public long requests() {
        return requests;
    }

    /** How many of them were refused. */
    public long refused() {
        return refused;
    }

    /** When the first one came, in nanoseconds since the epoch. */
    public long firstNanos() {
        return requests == 0 ? 0 : firstNanos;
    }

    /** When the last one came, in nanoseconds since the epoch. */
    public long lastNanos() {
        return requests == 0 ? 0 : lastNanos;
    }

    /** The most requests that were admitted in a second. */
    public long peakPerSecond() {
        return perSecond.max();
    }

    /** The most admitted requests at the same time; 0 if the log has no durations. */
    public long peakInFlight() {
        return inFlight.max();
    }

    /** Admitted and refused requests over time. */
    public TimeSeries series() {
        return series;
    }

    /** By policy, in the order of the configuration. */
    public Collection<PolicyStatistics> policies() {
        return policies.values();
    }
}
