package dev.ratelimit;

import java.util.List;

/**
 * Does what another store does: a decorator extends it and overrides what is different. For example, a store that
 * counts refusals overrides {@link #decide}, and looks at what {@code super.decide} returns.
 *
 * <p>Forwards {@code decide}, {@code peek}, {@code refund} of a part, {@code reset} and {@code close}. The other methods
 * call these, as in any store: each {@code tryCharge} is a {@code decide}, and a refund of a whole decision is one of
 * all its charges. So a decorator sees every charge in {@code decide} and every refund in
 * {@link #refund(Decision, List)}; the price is that a yes or no allocates a decision.
 *
 * <p>The asynchronous methods are not forwarded either: as in any store that can only block, each calls the blocking one
 * on another thread, so that a decorator that overrides {@code decide} alone sees the charges of {@code decideAsync} as
 * well. To stay asynchronous, a decorator overrides both forms of what it changes, and asks {@link #store()} for the
 * others. It returns the store's own stage, because cancelling a dependent of it would not reach the store:
 *
 * <pre>{@code
 * @Override
 * public CompletionStage<Decision> decideAsync(List<Charge> charges) {
 *     CompletionStage<Decision> decided = store().decideAsync(charges);
 *     decided.thenAccept(this::count);
 *     return decided;
 * }
 *
 * @Override
 * public CompletionStage<Decision> peekAsync(List<Charge> charges) {
 *     return store().peekAsync(charges);
 * }
 *
 * @Override
 * public CompletionStage<Void> refundAsync(Decision decision, List<Charge> part) {
 *     return store().refundAsync(decision, part);
 * }
 * }</pre>
 */
public abstract class ForwardingStore implements RateLimitStore {

    private final RateLimitStore store;

    /**
     * Creates a decorator.
     *
     * @param store what to forward to
     */
    protected ForwardingStore(RateLimitStore store) {
        this.store = store;
    }

    /** {@return the store that calls are forwarded to} */
    protected final RateLimitStore store() {
        return store;
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return store.decide(charges);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return store.peek(charges);
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        store.refund(decision, part);
    }

    @Override
    @CanIgnoreReturnValue
    public boolean reset(Policy policy, String key) {
        return store.reset(policy, key);
    }

    @Override
    public void close() {
        store.close();
    }
}
