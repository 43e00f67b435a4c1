package dev.ratelimit.remote;

import dev.ratelimit.LimitStatus;
import java.util.List;

/** What a server says about a request. */
public interface Answer {

    /** {@return whether all charges were taken, or would be; of a refund or a reset, whether it was done} */
    boolean admitted();

    /** {@return the time of the decision by the server's clock, in microseconds} */
    long nowMicros();

    /**
     * The limits' statuses, for a charge or a peek. Called on the thread that makes the decision, not on a connection's.
     *
     * @return those of each charge, in the order of {@link Request#charges}
     */
    List<List<LimitStatus>> statuses();
}
