package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import java.util.List;

/** One charge of a decision, and what became of it. Used by one thread until the decision is made. */
final class Part {

    /** Who decided a charge. */
    enum Decider {
        /** Nobody: its policy admits while its server fails. */
        NONE,
        SERVER,
        MEMORY
    }

    private static final Stamp NOBODYS = new Stamp(0, 0);

    private final Charge charge;
    private Decider decider = Decider.NONE;
    private Stamp stamp = NOBODYS;
    private List<LimitStatus> statuses = List.of();
    private boolean corrected;

    Part(Charge charge) {
        this.charge = charge;
    }

    /** Records a decision of a server. */
    void decided(Stamp at, List<LimitStatus> told) {
        decider = Decider.SERVER;
        stamp = at;
        statuses = told;
    }

    /** Records a decision of memory. */
    void decidedHere(List<LimitStatus> told) {
        decider = Decider.MEMORY;
        stamp = NOBODYS;
        statuses = told;
    }

    /** Replaces the statuses by later ones. */
    void corrected(List<LimitStatus> told) {
        statuses = told;
        corrected = true;
    }

    /** Whether the statuses are later than the decision. */
    boolean isCorrected() {
        return corrected;
    }

    Charge charge() {
        return charge;
    }

    /** What a server charged. */
    Stamp stamp() {
        return stamp;
    }

    List<LimitStatus> statuses() {
        return statuses;
    }

    boolean byServer() {
        return decider == Decider.SERVER;
    }

    boolean inMemory() {
        return decider == Decider.MEMORY;
    }
}
