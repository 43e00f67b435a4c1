package dev.ratelimit.simulator.replay;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.Passage.Refusal;
import dev.ratelimit.simulator.traffic.AccessLog;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests pass the limits of a configuration as the filter of an application does: charged, refused, waiting,
 * settled by the status and released at the end. Not thread-safe.
 */
public final class Replay {

    /** How long requests may still wait, or run, after the last one has come. */
    private static final long DRAIN_NANOS = 3_600_000_000_000L;

    private final VirtualClock clock = new VirtualClock();
    private final List<ReplayObserver> observers;
    private final InMemoryStore store;
    private final RequestLimiter first;
    private final @Nullable RequestLimiter second;
    private final boolean mayWait;

    /** The request that is just being charged; {@code null} between requests. */
    private @Nullable Passage current;

    /** Whether the store has not been asked yet for what is just being charged. */
    private boolean asks;

    /** Tells whose decision it is. Where requests may wait, only the first one is surely that of the current request. */
    private final class Watched extends ForwardingStore {

        Watched(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            ask(charges);
            Decision decision = super.decide(charges);
            if (current != null && !mayWait) {
                current.decided(decision);
            }
            return decision;
        }

        /** Who comes behind others that wait is not decided about. */
        @Override
        public Decision peek(List<Charge> charges) {
            ask(charges);
            return super.peek(charges);
        }

        private void ask(List<Charge> charges) {
            Passage passage = current;
            if (passage != null && asks) {
                asks = false;
                long now = clock.nanos();
                for (Charge charge : passage.ask(charges)) {
                    observers.forEach(observer -> observer.asked(charge, now));
                }
            }
        }
    }

    /** Tells whose outcome it is. */
    private final class Counter implements OutcomeCounter {

        @Override
        public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
            for (ReplayObserver observer : observers) {
                observer.counted(policy, outcome);
            }
            if (current != null && outcome.isRefusal()) {
                current.refused(new Refusal(policy, key, outcome));
            }
        }
    }

    /**
     * Creates a replay, with full budgets.
     *
     * @param limits which are tried out
     * @param stages whether Spring Security runs, so that policies are charged before and after it
     * @param observers who are told how it goes
     */
    public Replay(SimulatedLimits limits, boolean stages, List<ReplayObserver> observers) {
        this.observers = List.copyOf(observers);
        InMemoryStore.Builder builder = InMemoryStore.builder().ticker(clock).scheduler(clock);
        limits.properties().maxKeys().forEach(builder::maxKeys);
        this.store = builder.build();
        WaitingRequests waiting = new WaitingRequests(limits.rules(), new Watched(store), clock, clock);
        RequestLimiter limiter =
                new RequestLimiter(limits.rules(), limits.properties(), waiting, new Counter(), clock, null);
        this.first = stages ? limiter.beforeSecurity() : limiter;
        this.second = stages ? limiter.afterSecurity() : null;
        this.mayWait = limiter.letsRequestsWait();
    }

    /** Lets all requests of a log pass. */
    public void run(AccessLog log) throws IOException {
        for (LoggedRequest request = log.next(); request != null; request = log.next()) {
            accept(request);
        }
        end();
    }

    /** Lets the next request pass. */
    public void accept(LoggedRequest request) {
        clock.advanceTo(request.nanos());
        Passage passage = new Passage(request, clock.nanos());
        if (first.isFreePreflight(request)) {
            tell(passage, null, false);
            return;
        }
        LoggedRequest early = second == null ? request : request.withoutCaller();
        goOn(passage, charge(passage, first, null, early), first);
    }

    private ChargedRequest charge(
            Passage passage, RequestLimiter stage, @Nullable ChargedRequest before, LoggedRequest request) {
        current = passage;
        asks = before == null || !before.isWaiting();
        try {
            return stage.charge(before, request, mayWait);
        } finally {
            current = null;
        }
    }

    private void goOn(Passage passage, ChargedRequest charged, RequestLimiter stage) {
        if (charged.isWaiting()) {
            charged.whenOver(() -> goOn(passage, charge(passage, stage, charged, passage.request()), stage));
        } else if (charged.isRefused()) {
            tell(passage, charged, true);
        } else if (stage == first && second != null) {
            RequestLimiter late = second;
            goOn(passage, charge(passage, late, charged, passage.request()), late);
        } else {
            charged.countAdmitted();
            tell(passage, charged, false);
            complete(passage.request(), charged);
        }
    }

    private void tell(Passage passage, @Nullable ChargedRequest charged, boolean refused) {
        if (charged != null && mayWait) {
            passage.decided(charged.stages());
        }
        passage.end(clock.nanos(), refused);
        for (ReplayObserver observer : observers) {
            observer.passed(passage);
        }
    }

    /** Settles the request by its status and takes back what it holds, when it ends. */
    private void complete(LoggedRequest request, ChargedRequest charged) {
        if (!charged.dependsOnStatus() && !charged.holds()) {
            return;
        }
        Runnable end = () -> {
            if (charged.dependsOnStatus() && request.status() != LoggedRequest.UNKNOWN) {
                charged.settle(List.of(request.status()));
            }
            charged.release();
        };
        clock.atEnd(request, end);
    }

    /** Lets those who still wait have their permits, and ends the replay. */
    public void end() {
        clock.advanceTo(clock.nanos() + DRAIN_NANOS);
        observers.forEach(ReplayObserver::ended);
        store.close();
    }
}
