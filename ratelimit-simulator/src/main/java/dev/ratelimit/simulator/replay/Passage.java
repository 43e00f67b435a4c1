package dev.ratelimit.simulator.replay;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.simulator.traffic.LoggedRequest;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.decision.StageCharges;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request that passes the limits, or is refused by them. Not thread-safe. */
public final class Passage {

    /**
     * A refusal by one policy.
     *
     * @param key whose request it is; {@code null} if the request lacks a part of the key
     * @param outcome refused or, in shadow mode, only recorded
     */
    public record Refusal(String policy, @Nullable String key, Outcome outcome) {}

    private final LoggedRequest request;
    private final long nanos;
    private final List<Charge> charges = new ArrayList<>(4);
    private List<Refusal> refusals = List.of();
    private @Nullable Decision decision;
    private long endNanos;
    private boolean refused;

    Passage(LoggedRequest request, long nanos) {
        this.request = request;
        this.nanos = nanos;
    }

    /** Takes over what it asks for; returns what it did not ask for before. */
    List<Charge> ask(List<Charge> more) {
        int before = charges.size();
        for (Charge charge : more) {
            if (!contains(charge)) {
                charges.add(charge);
            }
        }
        return charges.subList(before, charges.size());
    }

    /** Takes over what a store has decided. Policies in shadow mode are charged first, and then left out if they refuse. */
    void decided(Decision last) {
        decision = last;
    }

    /** Takes over what was decided at each stage, perhaps after waiting. */
    void decided(List<StageCharges> stages) {
        for (StageCharges stage : stages) {
            List<LimitStatus> limits = stage.asked();
            if (!limits.isEmpty()) {
                boolean admitted = limits.stream().allMatch(LimitStatus::admitted);
                decision = new Decision(admitted, stage.rules().charges(), limits, null);
            }
        }
    }

    private boolean contains(Charge charge) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).sameBudget(charge)) {
                return true;
            }
        }
        return false;
    }

    void refused(Refusal refusal) {
        if (refusals.isEmpty()) {
            refusals = new ArrayList<>(2);
        }
        refusals.add(refusal);
    }

    void end(long atNanos, boolean asRefused) {
        endNanos = atNanos;
        refused = asRefused;
    }

    /** The request. */
    public LoggedRequest request() {
        return request;
    }

    /** When it arrived, in nanoseconds since the epoch; times of a log that go backwards are moved forward. */
    public long nanos() {
        return nanos;
    }

    /** When it was admitted or refused, in nanoseconds since the epoch; never before that of an earlier passage. */
    public long endNanos() {
        return endNanos;
    }

    /** What it costs, whether it was charged or refused. */
    public List<Charge> charges() {
        return charges;
    }

    /** The policies that have refused it, or would have without shadow mode. */
    public List<Refusal> refusals() {
        return refusals;
    }

    /** What the store has decided last; {@code null} if it was not asked. */
    public @Nullable Decision decision() {
        return decision;
    }

    /** Whether it was refused. */
    public boolean isRefused() {
        return refused;
    }
}
