package dev.ratelimit;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the used permits of keys, and takes charges: all charges of a call, or none.
 *
 * <p>A refused call changes nothing. Concurrent calls are admitted as if they came one after another: never beyond any
 * limit, and no call is refused because of a charge that another call did not get. A store on several servers that
 * cannot guarantee the latter documents it. An unknown key has a full budget. Implementations are safe for concurrent
 * use, and pass {@code RateLimitStoreContract} of {@code ratelimit-test}.
 *
 * <p>A refusal is a value, never an exception. A store across a network may be unable to decide. What happens then is
 * configured for each policy ({@link OnStoreFailure}); it may be a {@link StoreUnavailableException}, with nothing
 * charged.
 *
 * <p>{@code decideAsync}, {@code peekAsync} and {@code refundAsync} never block the calling thread, and never throw:
 * their stage completes exceptionally with what the blocking method would throw, also for illegal arguments. They do not
 * look at their lists again once they have returned. By default they call the blocking method on
 * {@link Scheduler#blockingExecutor} of the system's scheduler, so that a store that can only block needs nothing else;
 * one that answers at once, or without a thread, overrides all three. Dependents of a stage run on the calling thread if
 * it is already completed, otherwise where the store completes it: by default on that executor, where they may block.
 */
public interface RateLimitStore extends AutoCloseable {

    /**
     * Takes one charge, or refuses it. Avoids allocation if the store can.
     *
     * @param charge what to take; 0 permits only ask
     * @return whether the charge was taken
     * @throws StoreUnavailableException if the store cannot decide, and the policy fails closed
     */
    default boolean tryCharge(Charge charge) {
        return decide(List.of(charge)).admitted();
    }

    /**
     * Takes permits of one key's budget, or refuses. Avoids allocating a {@link Charge}.
     *
     * @param policy whose limits decide
     * @param key whose budget; the empty string if all callers share one
     * @param permits how many, 0 or more; 0 only asks
     * @return whether the permits were taken
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws StoreUnavailableException if the store cannot decide, and the policy fails closed
     */
    default boolean tryCharge(Policy policy, String key, long permits) {
        return tryCharge(policy.charge(key, permits));
    }

    /**
     * Takes all charges, or none. Avoids allocation if the store can.
     *
     * @param charges what to take; an empty list is admitted
     * @return whether the charges were taken
     * @throws StoreUnavailableException if the store cannot decide, and a policy fails closed
     */
    default boolean tryCharge(List<Charge> charges) {
        return decide(charges).admitted();
    }

    /**
     * Takes all charges, or none, and returns the status of each limit. A charge of 0 permits only asks. Charges to the
     * same policy and key are added up and appear once in the result, under the limits of the first of them.
     *
     * @param charges what to take; an empty list is admitted
     * @return whether the charges were taken, and the status of the limits afterwards
     * @throws StoreUnavailableException if the store cannot decide, and a policy fails closed
     */
    Decision decide(List<Charge> charges);

    /**
     * Returns what {@link #decide} would, without taking anything. Remaining permits are those before the charge.
     *
     * @param charges what to ask for
     * @return whether the charges would be taken, and the status of the limits now
     * @throws StoreUnavailableException if the store cannot decide, and a policy fails closed
     */
    Decision peek(List<Charge> charges);

    /**
     * Like {@link #decide}, without blocking the calling thread.
     *
     * @param charges what to take; an empty list is admitted
     * @return completed with what {@code decide} returns or throws; with a {@link StoreUnavailableException} also if too
     *     many blocking calls wait. Whoever completes or cancels its {@code toCompletableFuture()} before the store does
     *     gets nothing, and nothing stays charged
     */
    default CompletionStage<Decision> decideAsync(List<Charge> charges) {
        return BlockingCalls.run(charges, this::decide, this::refund);
    }

    /**
     * Like {@link #peek}, without blocking the calling thread.
     *
     * @param charges what to ask for
     * @return completed with what {@code peek} returns or throws; with a {@link StoreUnavailableException} also if too
     *     many blocking calls wait
     */
    default CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return BlockingCalls.run(charges, this::peek, decision -> {});
    }

    /**
     * Refunds a decision of this store, as far as it is still charged; never raises a key above full. Has no effect on
     * a refusal or a peek, nor while the store's server does not answer: permits then come back with time. The caller
     * must refund at most once; {@link Reservation} ensures that.
     *
     * @param decision what {@link #decide} returned
     */
    default void refund(Decision decision) {
        refund(decision, decision.charges());
    }

    /**
     * Refunds a part of a decision of this store, like {@link #refund(Decision)}.
     *
     * @param decision what {@link #decide} returned
     * @param part charges to budgets of {@link Decision#charges}, each with at most the permits that were charged there
     * @throws IllegalArgumentException if the decision has no charge to one of these budgets, or one with fewer permits;
     *     or if it is of another kind of store. Another store of this kind is not told apart
     */
    void refund(Decision decision, List<Charge> part);

    /**
     * Like {@link #refund(Decision)}, without blocking the calling thread.
     *
     * @param decision what {@link #decide} returned
     * @return completed when the refund is done, or with what {@code refund} throws
     */
    @CanIgnoreReturnValue
    default CompletionStage<@Nullable Void> refundAsync(Decision decision) {
        return refundAsync(decision, decision.charges());
    }

    /**
     * Like {@link #refund(Decision, List)}, without blocking the calling thread. Nobody can cancel it.
     *
     * @param decision what {@link #decide} returned
     * @param part charges to budgets of {@link Decision#charges}, each with at most the permits that were charged there
     * @return completed when the refund is done, or with what {@code refund} throws; with a
     *     {@link StoreUnavailableException}, and without a refund, if too many blocking calls wait
     */
    @CanIgnoreReturnValue
    default CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        return BlockingCalls.<@Nullable Void>run(
                        part,
                        charges -> {
                            refund(decision, charges);
                            return null;
                        },
                        nothing -> {})
                // a refund that nobody waits for is done nevertheless
                .minimalCompletionStage();
    }

    /**
     * Resets the key to a full budget.
     *
     * @param policy whose limits to reset
     * @param key whose budget; the empty string if all callers share one
     * @return whether it is certain that the key was reset; {@code false} if the store's server does not answer
     */
    @CanIgnoreReturnValue
    boolean reset(Policy policy, String key);

    /** Releases the resources of the store. Idempotent. */
    @Override
    default void close() {}
}
