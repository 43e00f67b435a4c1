package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store whose refunds never fail: a response that is already complete is not affected. The failure is logged once.
 */
final class RefundingStore extends ForwardingStore {

    private static final Logger log = LoggerFactory.getLogger(RefundingStore.class);

    private final Consumer<List<Charge>> refunded;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * Creates a store.
     *
     * @param refunded receives what was refunded
     */
    RefundingStore(RateLimitStore store, Consumer<List<Charge>> refunded) {
        super(store);
        this.refunded = refunded;
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        try {
            super.refund(decision, part);
            refunded.accept(part);
        } catch (RuntimeException e) {
            warnOnce(e);
        }
    }

    @Override
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        return store().decideAsync(charges);
    }

    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return store().peekAsync(charges);
    }

    @Override
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        return store().refundAsync(decision, part)
                .thenRun(() -> refunded.accept(part))
                .handle(this::told);
    }

    /** The same store for event loops: refunds are sent, and nobody waits for them. */
    RateLimitStore withoutBlocking() {
        return new Sending();
    }

    private final class Sending extends ForwardingStore {

        Sending() {
            super(RefundingStore.this);
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            try {
                store().refundAsync(decision, part);
            } catch (RuntimeException e) {
                warnOnce(e);
            }
        }

        @Override
        public CompletionStage<Decision> decideAsync(List<Charge> charges) {
            return store().decideAsync(charges);
        }

        @Override
        public CompletionStage<Decision> peekAsync(List<Charge> charges) {
            return store().peekAsync(charges);
        }

        @Override
        public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
            return store().refundAsync(decision, part);
        }
    }

    private @Nullable Void told(@Nullable Void nothing, @Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause != null) {
            warnOnce(cause);
        }
        return null;
    }

    private void warnOnce(Throwable failure) {
        if (failed.compareAndSet(false, true)) {
            log.warn(
                    "The rate limit store failed to refund permits, so they stay charged; this is logged once",
                    failure);
        }
    }
}
