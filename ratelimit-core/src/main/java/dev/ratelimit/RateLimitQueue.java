package dev.ratelimit;

import java.math.BigInteger;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets refused callers wait for their permits in a bounded queue, without a thread: it smooths bursts instead of
 * refusing them. Thread-safe.
 *
 * <pre>{@code
 * RateLimitQueue queue = RateLimitQueue.builder(store)
 *         .policy("mail", RateLimitQueue.Waiting.of(Duration.ofSeconds(5), 100))
 *         .build();
 * queue.acquire(mail.charge("alice")).thenAccept(decision -> { if (decision.admitted()) send(); });
 * }</pre>
 *
 * <p>Callers wait in one line per budget, at the policy that makes them wait longest. The head of each line asks again
 * when its permits are due; later callers of the same budget queue behind it and never overtake it. A caller who cannot
 * be admitted within {@code maxWait}, because of the permits that those ahead of it wait for, is refused at once, and
 * so is one for whom there is no room. If other instances use up the permits, a caller is refused when its time is
 * over.
 *
 * <p>The room is shared fairly: when a policy's queue is full, a caller of a short line takes the place of one in the
 * longest line.
 */
public final class RateLimitQueue implements AutoCloseable {

    /** Who is served first in a line. */
    public enum Order {
        /** Whoever came first. If there is no room, newcomers are refused. */
        OLDEST_FIRST,
        /**
         * Whoever came last, as in an overload it is the one whose client is still there. If there is no room, the
         * oldest are refused.
         */
        NEWEST_FIRST
    }

    /**
     * How callers wait under a policy.
     *
     * @param maxWait from zero to one day
     * @param maxWaiting how many callers, 0 or more, over all keys
     * @param order who is served first among the callers of a budget
     */
    public record Waiting(Duration maxWait, int maxWaiting, Order order) {

        private static final Duration MAX_WAIT = Duration.ofDays(1);

        /**
         * Validates the ranges.
         *
         * @param maxWait from zero to one day
         * @param maxWaiting how many callers, 0 or more, over all keys
         * @param order who is served first among the callers of a budget
         * @throws IllegalArgumentException if {@code maxWait} or {@code maxWaiting} is out of range
         */
        public Waiting {
            if (maxWait.isNegative() || maxWait.compareTo(MAX_WAIT) > 0) {
                throw new IllegalArgumentException("maxWait must be from 0 to 1 day but was " + maxWait);
            }
            if (maxWaiting < 0) {
                throw new IllegalArgumentException("maxWaiting must be at least 0 but was " + maxWaiting);
            }
        }

        /**
         * {@return waiting with the oldest caller first}
         *
         * @param maxWait from zero to one day
         * @param maxWaiting how many callers, 0 or more, over all keys
         */
        public static Waiting of(Duration maxWait, int maxWaiting) {
            return new Waiting(maxWait, maxWaiting, Order.OLDEST_FIRST);
        }
    }

    /** No alarm is exact: a caller whose permits are due at its deadline still gets them. */
    private static final long TOLERANCE_NANOS = 10_000_000;

    private final RateLimitStore store;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final WaitingRooms rooms;

    private RateLimitQueue(Builder builder) {
        this.store = builder.store;
        this.ticker = builder.ticker;
        this.scheduler = builder.scheduler == null ? Scheduler.of(builder.ticker) : builder.scheduler;
        this.rooms = new WaitingRooms(builder.policies);
    }

    /**
     * {@return a builder of a queue in which nobody waits yet}
     *
     * @param store takes the charges; the queue does not close it
     */
    public static Builder builder(RateLimitStore store) {
        return new Builder(store);
    }

    /**
     * Takes all charges, now or after waiting; see {@link #acquire(List, Supplier)}.
     *
     * @param charges what to take
     * @return an admitted decision, or a refused one; completed exceptionally if the store fails
     */
    public CompletableFuture<Decision> acquire(Charge... charges) {
        List<Charge> asked = List.of(charges);
        return acquire(asked, () -> store.decide(asked));
    }

    /**
     * Takes all charges, now or after waiting. The future completes on the calling thread if nobody has to wait,
     * otherwise on the scheduler's executor, or on the thread that closes the queue. Cancelling it ends the wait and
     * leaves nothing charged.
     *
     * @param charges those that can make the caller wait
     * @param decide asks the store for these charges, perhaps together with others; called again for each attempt
     * @return an admitted decision, or a refused one with the status of the limits when the caller was refused and, if it
     *     was refused at once, with the wait behind those ahead; completed exceptionally if {@code decide}, the store or the scheduler throws
     */
    public CompletableFuture<Decision> acquire(List<Charge> charges, Supplier<Decision> decide) {
        try {
            long before = rooms.wakes();
            Charge contested = rooms.contested(charges);
            Decision decision = contested == null ? decide.get() : store.peek(charges);
            if (contested == null && decision.admitted()) {
                return CompletableFuture.completedFuture(decision);
            }
            Charge at = contested != null && decision.admitted() ? contested : longestWait(decision);
            if (at == null) {
                return CompletableFuture.completedFuture(Waiter.refused(decision));
            }
            return join(new Waiter(decide, decision), at, before);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The charge to wait for; {@code null} if a limit refuses that nobody can wait for. */
    private @Nullable Charge longestWait(Decision decision) {
        List<LimitStatus> violated = decision.violated();
        for (LimitStatus status : violated) {
            if (rooms.waiting(status.policy()) == null || status.retryAfterNanos() == LimitAlgorithm.NEVER) {
                return null;
            }
        }
        return violated.isEmpty() ? null : violated.get(0).charge();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // leaving a line does not fail
    private CompletableFuture<Decision> join(Waiter waiter, Charge at, long before) {
        Waiting waiting = Objects.requireNonNull(rooms.waiting(at.policy()));
        long maxWait = waiting.maxWait().toNanos();
        waiter.result.whenComplete((decision, failure) -> leave(waiter));
        WaitingRooms.Entry entry = null;
        long behind = 0;
        // counts again if others have joined meanwhile
        while (entry == null) {
            long ahead = rooms.permitsAhead(at);
            behind = waitBehind(at, ahead, waiter);
            if (Math.max(waiter.certainWait(), behind) > maxWait) {
                return CompletableFuture.completedFuture(waiter.refusalBehind(at, behind));
            }
            waiter.deadline = ticker.nanos() + maxWait;
            entry = rooms.join(waiter, at, ahead, () -> {
                waiter.expiry(later(maxWait + TOLERANCE_NANOS, waiter, () -> waiter.result.complete(waiter.refusal())));
                serveLater(waiter, rooms.wakes() == before ? nextTry(waiter) : 0);
            });
        }
        Waiter goes = entry.goes();
        if (goes == waiter) {
            return CompletableFuture.completedFuture(waiter.refusalBehind(at, behind));
        }
        if (goes != null) {
            run(goes, () -> goes.result.complete(goes.refusal()));
        }
        return waiter.result;
    }

    /**
     * The wait until the permits of those ahead and of this caller have come back. Exact for up to the capacity of the
     * limits; beyond that, as if permits came back evenly.
     */
    private long waitBehind(Charge at, long ahead, Waiter waiter) {
        if (ahead == 0) {
            return 0;
        }
        long all = ahead + at.permits();
        long capacity =
                at.policy().limits().stream().mapToLong(Limit::capacity).min().orElse(1);
        long asked = Math.min(all, capacity);
        Decision then = store.peek(List.of(at.policy().charge(at.key(), asked)));
        waiter.last = waiter.last.admitted() ? Waiter.refused(then) : waiter.last;
        long wait = 0;
        for (LimitStatus status : then.limits()) {
            if (!status.limit().concurrency()) {
                long rest = BigInteger.valueOf(all - asked)
                        .multiply(BigInteger.valueOf(status.limit().replenishNanos()))
                        .divide(BigInteger.valueOf(status.limit().capacity()))
                        .min(BigInteger.valueOf(Long.MAX_VALUE / 2))
                        .longValueExact();
                wait = Math.max(wait, Math.min(status.retryAfterNanos(), Long.MAX_VALUE / 2) + rest);
            }
        }
        return wait;
    }

    private void leave(Waiter waiter) {
        Waiter next = rooms.leave(waiter);
        waiter.cancelAlarms();
        if (next != null) {
            serveLater(next, 0);
        }
    }

    /** Serves the waiter's line after this time, if the waiter is its head then. */
    private void serveLater(Waiter waiter, long nanos) {
        if (rooms.isHead(waiter)) {
            waiter.alarm(later(nanos, waiter, () -> serve(waiter)));
        }
    }

    private Scheduler.Alarm later(long nanos, Waiter waiter, Runnable task) {
        try {
            return scheduler.schedule(() -> run(waiter, task), nanos);
        } catch (RuntimeException | Error e) {
            waiter.result.completeExceptionally(e);
            return () -> {};
        }
    }

    /**
     * Continues on the executor, because the scheduler's thread must not block. If that fails, the waiter fails:
     * otherwise nobody would answer it, nor serve its line.
     */
    private void run(Waiter waiter, Runnable task) {
        try {
            scheduler.executor().execute(task);
        } catch (RuntimeException | Error e) {
            waiter.result.completeExceptionally(e);
        }
    }

    /** Asks again for the head of a line, and then for the next one, as long as they are admitted. */
    private void serve(Waiter first) {
        Waiter waiter = first;
        while (waiter != null && rooms.begin(waiter)) {
            waiter = ask(waiter);
        }
    }

    /** Asks for a waiter; returns whom to ask for next at once, if anybody. */
    private @Nullable Waiter ask(Waiter waiter) {
        Decision decision;
        try {
            decision = waiter.decide.get();
        } catch (RuntimeException | Error e) {
            Waiter next = rooms.end(waiter, null);
            waiter.result.completeExceptionally(e);
            return next;
        }
        waiter.last = decision;
        Charge at = decision.admitted() || isLate(waiter) ? null : longestWait(decision);
        Waiter next = rooms.end(waiter, at);
        if (at != null) {
            serveLater(waiter, nextTry(waiter));
        } else if (!waiter.result.complete(decision) && decision.admitted()) {
            // it left meanwhile; apart, so that the next one is served even if this fails
            run(waiter, () -> giveBack(decision));
        }
        return next;
    }

    private void giveBack(Decision decision) {
        store.refund(decision);
        decision.charges().forEach(charge -> wake(charge.policy(), charge.key()));
    }

    /** When to ask again; for permits that can come back at any moment, one last time at the deadline. */
    private long nextTry(Waiter waiter) {
        long retryAfter = waiter.last.retryAfterNanos();
        long left = waiter.deadline - ticker.nanos();
        return left > 0 ? Math.min(retryAfter, left) : retryAfter;
    }

    private boolean isLate(Waiter waiter) {
        return waiter.certainWait() > waiter.deadline - ticker.nanos() + TOLERANCE_NANOS;
    }

    /**
     * Asks again at once for whoever waits for this budget, because permits were refunded. Asks on the scheduler's
     * executor; does nothing if nobody waits.
     *
     * @param policy whose permits were refunded
     * @param key whose budget; the empty string if all callers share one
     */
    public void wake(Policy policy, String key) {
        Waiter head = rooms.wake(policy, key);
        if (head != null) {
            run(head, () -> serve(head));
        }
    }

    /**
     * Asks again at once for all who wait for permits of a policy, because its limits have changed.
     *
     * @param policy its name
     */
    public void wake(String policy) {
        rooms.wake(policy).forEach(head -> run(head, () -> serve(head)));
    }

    /**
     * {@return the number of callers who wait for permits of a policy, over all keys}
     *
     * @param policy its name
     */
    public int waiting(String policy) {
        return rooms.size(policy);
    }

    /**
     * Refuses everybody who waits, and whoever would have to wait from now on. Does not close the store. Idempotent.
     */
    @Override
    public void close() {
        rooms.close().forEach(waiter -> waiter.result.complete(waiter.refusal()));
    }

    /** Builds a queue. Not thread-safe. */
    public static final class Builder {

        private final RateLimitStore store;
        private final Map<String, Waiting> policies = new HashMap<>();
        private Ticker ticker = Ticker.system();
        private @Nullable Scheduler scheduler;

        private Builder(RateLimitStore store) {
            this.store = store;
        }

        /**
         * Lets callers wait for permits of a policy. For other policies, they are refused at once.
         *
         * @param name of the policy
         * @param waiting how long, and how many
         * @return this builder
         */
        @CanIgnoreReturnValue
        public Builder policy(String name, Waiting waiting) {
            policies.put(name, waiting);
            return this;
        }

        /**
         * Sets the clock for deadlines.
         *
         * @param ticker the system's by default
         * @return this builder
         */
        @CanIgnoreReturnValue
        public Builder ticker(Ticker ticker) {
            this.ticker = ticker;
            return this;
        }

        /**
         * Sets the scheduler of the alarms, on whose executor the store is asked again.
         *
         * @param scheduler {@linkplain Scheduler#of that of the ticker} by default
         * @return this builder
         */
        @CanIgnoreReturnValue
        public Builder scheduler(Scheduler scheduler) {
            this.scheduler = scheduler;
            return this;
        }

        /** {@return a queue with these settings} */
        public RateLimitQueue build() {
            return new RateLimitQueue(this);
        }
    }
}
