package dev.ratelimit.simulator.replay;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.traffic.LogSource;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Charges the keys and costs of a trace to one policy, without anything else of a request. Not thread-safe. */
public final class TraceReplay {

    private final VirtualClock clock = new VirtualClock();
    private final List<Policy> policies;
    private final InMemoryStore store;
    private final List<ReplayObserver> observers;

    /**
     * Creates a replay, with full budgets.
     *
     * @param limits all of which are charged
     * @param observers who are told how it goes
     */
    public TraceReplay(SimulatedLimits limits, List<ReplayObserver> observers) {
        this.policies = limits.rules().policiesInForce();
        this.observers = observers;
        InMemoryStore.Builder builder = InMemoryStore.builder().ticker(clock).scheduler(clock);
        limits.properties().maxKeys().forEach(builder::maxKeys);
        this.store = builder.build();
    }

    /** Charges all requests of a trace. */
    public void run(LogSource trace) throws IOException {
        for (LoggedRequest request = trace.next(); request != null; request = trace.next()) {
            accept(request);
        }
        end();
    }

    /** Ends the replay. */
    public void end() {
        observers.forEach(ReplayObserver::ended);
        store.close();
    }

    /** Charges the next request. */
    public void accept(LoggedRequest request) {
        clock.advanceTo(request.nanos());
        Passage passage = new Passage(request, clock.nanos(), 1);
        List<Charge> charges = new ArrayList<>(policies.size());
        for (Policy policy : policies) {
            charges.add(policy.charge(request.key(), request.cost()));
        }
        for (Charge charge : passage.ask(charges)) {
            observers.forEach(observer -> observer.asked(charge, clock.nanos()));
        }
        Decision decision = store.decide(charges);
        passage.decided(decision);
        passage.end(clock.nanos(), !decision.admitted());
        for (Policy policy : policies) {
            boolean refused =
                    decision.violated().stream().anyMatch(one -> one.policy().equals(policy));
            if (refused) {
                passage.refused(new Passage.Refusal(policy.name(), request.key(), Outcome.REFUSED));
            }
            if (refused || decision.admitted()) {
                Outcome outcome = refused ? Outcome.REFUSED : Outcome.ADMITTED;
                observers.forEach(observer -> observer.counted(policy.name(), outcome));
            }
        }
        observers.forEach(observer -> observer.passed(passage));
    }
}
