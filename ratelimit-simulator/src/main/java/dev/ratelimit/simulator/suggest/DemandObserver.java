package dev.ratelimit.simulator.suggest;

import dev.ratelimit.Charge;
import dev.ratelimit.simulator.replay.Passage;
import dev.ratelimit.simulator.replay.ReplayObserver;
import dev.ratelimit.simulator.replay.VirtualClock;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.HashMap;
import java.util.Map;

/** Collects what keys ask for until some moment. Not thread-safe. */
final class DemandObserver implements ReplayObserver {

    private final RulesInForce rules;
    private final Map<String, Demand> demands = new HashMap<>();
    private final long untilNanos;
    private final VirtualClock clock = new VirtualClock();

    /**
     * Creates an observer.
     *
     * @param demands by policy
     * @param untilNanos later requests are left out
     */
    DemandObserver(RulesInForce rules, Map<String, ? extends Demand> demands, long untilNanos) {
        this.rules = rules;
        this.demands.putAll(demands);
        this.untilNanos = untilNanos;
    }

    @Override
    public void passed(Passage passage) {
        if (passage.nanos() >= untilNanos) {
            return;
        }
        clock.advanceTo(passage.nanos());
        for (Charge charge : passage.charges()) {
            Demand demand = demands.get(charge.policy().name());
            if (demand == null) {
                continue;
            }
            demand.add(passage.nanos(), charge.key(), charge.permits());
            if (isFree(charge, passage.request())) {
                clock.atEnd(passage.request(), () -> demand.refund(clock.nanos(), charge.key(), charge.permits()));
            }
        }
    }

    /** Whether the charge is given back, with the status of the response. */
    private boolean isFree(Charge charge, LoggedRequest request) {
        Rule rule = rules.byPolicy().get(charge.policy().name());
        FreeStatuses free = rule == null ? null : rule.free();
        return free != null && request.isFree(free);
    }
}
