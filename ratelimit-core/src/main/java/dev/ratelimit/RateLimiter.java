package dev.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Asks a store for permits: at once, or with patience. Thread-safe; one for an application will do.
 *
 * <p>Every method takes one {@link Charge} or several, of one policy or several, and is all or nothing over them.
 *
 * <table>
 *   <caption>Which method</caption>
 *   <tr><td>{@link #tryAcquire}</td><td>yes or no, at once</td></tr>
 *   <tr><td>{@link #decide}</td><td>yes or no, with what is left and when to come back</td></tr>
 *   <tr><td>{@link #peek}</td><td>the same without taking anything</td></tr>
 *   <tr><td>{@link #reserve}</td><td>at once, and can be given back</td></tr>
 *   <tr><td>{@link #acquire}, {@link #acquireAsync}</td><td>waits, and can be given back</td></tr>
 * </table>
 */
public final class RateLimiter {

    private static final Duration LONGEST_WAIT = Duration.ofNanos(Long.MAX_VALUE / 2);

    private final RateLimitStore store;
    private final Ticker ticker;

    /** A limiter on this store that waits by the system's clock. */
    public RateLimiter(RateLimitStore store) {
        this(store, Ticker.system());
    }

    /** A limiter on this store; {@code ticker} times the waiting, decisions go by the store's own time. */
    public RateLimiter(RateLimitStore store, Ticker ticker) {
        this.store = store;
        this.ticker = ticker;
    }

    /** Takes the charge or not. On an in-memory store and a policy of one limit, nothing is allocated. */
    public boolean tryAcquire(Charge charge) {
        return store.tryCharge(charge);
    }

    /** Takes one permit of this key's budget or not. Like {@code tryAcquire(policy.charge(key))}, without making a charge. */
    public boolean tryAcquire(Policy policy, String key) {
        return store.tryCharge(policy, key, 1);
    }

    /** Takes all the charges or none. */
    public boolean tryAcquire(Charge... charges) {
        return store.tryCharge(List.of(charges));
    }

    /** Takes all the charges or none, and says how each limit stands. */
    public Decision decide(Charge... charges) {
        return store.decide(List.of(charges));
    }

    /** What {@link #decide} would answer, without taking anything. */
    public Decision peek(Charge... charges) {
        return store.peek(List.of(charges));
    }

    /** How the key stands under the policy's limits. */
    public List<LimitStatus> inspect(Policy policy, String key) {
        return store.peek(List.of(policy.charge(key, 0))).limits();
    }

    /** Forgets what the key has used. */
    public void reset(Policy policy, String key) {
        store.reset(policy, key);
    }

    /** Takes all the charges or none, at once, so that they can be given back. */
    public Permit reserve(Charge... charges) {
        return reserve(List.of(charges));
    }

    /**
     * Waits until all the charges are taken, for at most {@code maxWait}. Fails at once, with a refused permit, as soon
     * as the wait cannot succeed in time. Who waits holds nothing; who comes while others wait is not queued behind
     * them.
     *
     * @param maxWait zero or more
     * @throws InterruptedException when interrupted while waiting; nothing is charged then
     * @throws IllegalArgumentException when {@code maxWait} is negative
     */
    public Permit acquire(Duration maxWait, Charge... charges) throws InterruptedException {
        CompletableFuture<Permit> waiting = acquireAsync(maxWait, charges);
        try {
            return waiting.get();
        } catch (InterruptedException interrupted) {
            if (!waiting.cancel(false) && !waiting.isCompletedExceptionally()) {
                waiting.join().refund();
            }
            throw interrupted;
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw failed.getCause() instanceof RuntimeException cause
                    ? cause
                    : new CompletionException(failed.getCause());
        }
    }

    /**
     * Like {@link #acquire}, holding no thread. Completes on the calling thread when the answer is known at once, else on
     * one of the ticker's. Cancelling the future ends the wait and leaves nothing charged.
     *
     * @param maxWait zero or more
     * @return completed with a permit, admitted or refused; exceptionally when the store fails
     * @throws IllegalArgumentException when {@code maxWait} is negative
     */
    public CompletableFuture<Permit> acquireAsync(Duration maxWait, Charge... charges) {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative but was " + maxWait);
        }
        long patience = (maxWait.compareTo(LONGEST_WAIT) < 0 ? maxWait : LONGEST_WAIT).toNanos();
        CompletableFuture<Permit> result = new CompletableFuture<>();
        attempt(List.of(charges), ticker.nanos() + patience, result);
        return result;
    }

    private void attempt(List<Charge> charges, long deadline, CompletableFuture<Permit> result) {
        if (result.isDone()) {
            return;
        }
        try {
            Permit permit = reserve(charges);
            long wait = permit.decision().retryAfterNanos();
            if (!permit.admitted() && wait <= deadline - ticker.nanos()) {
                ticker.schedule(() -> attempt(charges, deadline, result), wait);
            } else if (!result.complete(permit)) {
                permit.refund();
            }
        } catch (RuntimeException | Error e) {
            // also an error: nobody else would ever tell who waits
            result.completeExceptionally(e);
        }
    }

    private Permit reserve(List<Charge> charges) {
        return new Permit(store, charges, store.decide(charges));
    }
}
