package dev.ratelimit.simulator.replay;

import dev.ratelimit.Charge;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;

/** Sees how a replay goes. Called by one thread. */
public interface ReplayObserver {

    /**
     * A request asks for permits, whether it gets them, waits or is refused.
     *
     * @param nanos when, in nanoseconds since the epoch
     */
    default void asked(Charge charge, long nanos) {}

    /** A request has been admitted or refused; if it had to wait, when its wait was over. */
    void passed(Passage passage);

    /** An outcome under one policy, as the metrics of an application count it. */
    default void counted(String policy, Outcome outcome) {}

    /** No more requests come. */
    default void ended() {}
}
