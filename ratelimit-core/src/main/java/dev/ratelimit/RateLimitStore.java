package dev.ratelimit;

import java.util.List;

/**
 * Keeps what keys have used, and takes charges: all of a call's, or none.
 *
 * <p>A refused call changes nothing. Concurrent calls are admitted as if they came one after another: never beyond any
 * limit, and none is refused because of a charge that another call did not get. A key that is not known is full.
 * Implementations are safe for concurrent use, and pass {@code RateLimitStoreContract} of {@code ratelimit-test}.
 *
 * <p>A refusal is a value, never an exception.
 */
public interface RateLimitStore extends AutoCloseable {

    /** Takes one charge, or refuses it. A store that can decide without allocating does so here. */
    default boolean tryCharge(Charge charge) {
        return decide(List.of(charge)).admitted();
    }

    /**
     * Takes so many permits of one key's budget, or refuses. For who asks so often that a {@link Charge} is too much.
     *
     * @throws IllegalArgumentException when {@code permits} is negative
     */
    default boolean tryCharge(Policy policy, String key, long permits) {
        return tryCharge(policy.charge(key, permits));
    }

    /** Takes all the charges, or none. A store that can decide without allocating does so here. */
    default boolean tryCharge(List<Charge> charges) {
        return decide(charges).admitted();
    }

    /**
     * Takes all the charges, or none, and says how each limit stands. Charges of 0 permits only ask;
     * charges of the same policy and key are added up, and stand once in the answer.
     */
    Decision decide(List<Charge> charges);

    /** What {@link #decide} would answer, taking nothing. Remaining permits are those before the charge. */
    Decision peek(List<Charge> charges);

    /**
     * Gives back what an admitted decision took, as far as it is still charged; no key is lifted above full. The caller
     * sees to it that this happens at most once; {@link Permit} does.
     *
     * @param charges those of the decision
     * @param decision the answer to them, from this store
     */
    void refund(List<Charge> charges, Decision decision);

    /** Forgets what the key has used: it is full again. */
    void reset(Policy policy, String key);

    /** Frees what the store holds. Idempotent. */
    @Override
    default void close() {}
}
