package dev.ratelimit.simulator.command;

import dev.ratelimit.Charge;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Passage;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import java.util.Map;
import java.util.stream.Collectors;

/** What limits do in a part of the traffic. Not thread-safe. */
final class TouchedKeys implements ReplayObserver {

    private final long fromNanos;
    private final long untilNanos;
    private final ReplayStatistics statistics;

    /**
     * Observes a part.
     *
     * @param fromNanos its beginning
     * @param untilNanos its end, which is no part of it
     */
    TouchedKeys(SimulatedLimits limits, long fromNanos, long untilNanos) {
        this.fromNanos = fromNanos;
        this.untilNanos = untilNanos;
        this.statistics = new ReplayStatistics(limits.rules().policiesInForce());
    }

    @Override
    public void asked(Charge charge, long nanos) {
        if (nanos >= fromNanos && nanos < untilNanos) {
            statistics.asked(charge, nanos);
        }
    }

    @Override
    public void passed(Passage passage) {
        if (passage.nanos() >= fromNanos && passage.nanos() < untilNanos) {
            statistics.passed(passage);
        }
    }

    ReplayStatistics statistics() {
        return statistics;
    }

    Map<String, PolicyStatistics> policies() {
        return statistics.policies().stream().collect(Collectors.toMap(PolicyStatistics::name, policy -> policy));
    }
}
