package dev.ratelimit.queue;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.math.BigInteger;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * <p>The store may block: first the thread that calls {@code acquire}, and later the scheduler's executor, on which the
 * heads of lines ask again. On an event loop, call {@code acquireAsync}.
 *
 * <p>Callers wait in one line per budget, at the policy that makes them wait longest, in the order in which they came,
 * and do not overtake each other there. The head of each line asks the store again when its permits are due. A caller
 * waits only if every policy that refuses it lets callers wait for at least as long as its own permits take; with those
 * ahead of it in its line, that must be {@code maxWait} at most. Otherwise, or if there is no room, it is refused at
 * once. If others use up the permits, such as another instance, a caller is refused when its time is over, or as soon as
 * it is certain that its permits come later.
 *
 * <p>A caller who then finds that another policy makes it wait longest moves to the line there, to the place that its
 * arrival gives it. The bounds of that policy hold, too: its room, and its {@code maxWait} from then on; the wait never
 * becomes longer than it could be before.
 *
 * <p>The room is shared fairly: when a policy's room is full, a caller of a short line takes the place of the last one
 * in the longest line, who is refused.
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
     * @param maxWait from zero to one day; zero refuses at once
     * @param maxWaiting how many callers, 0 or more, over all keys
     * @param order who is served first among the callers of a budget
     */
    public record Waiting(Duration maxWait, int maxWaiting, Order order) {

        private static final Duration MAX_WAIT = Duration.ofDays(1);

        /**
         * Validates the ranges.
         *
         * @param maxWait from zero to one day; zero refuses at once
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
         * @param maxWait from zero to one day; zero refuses at once
         * @param maxWaiting how many callers, 0 or more, over all keys
         */
        public static Waiting of(Duration maxWait, int maxWaiting) {
            return new Waiting(maxWait, maxWaiting, Order.OLDEST_FIRST);
        }
    }

    /** How often a newcomer counts again if others join in the meantime. */
    private static final int COUNTS = 3;

    private final RateLimitStore store;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Hall hall;
    private final Usher usher;

    private RateLimitQueue(Builder builder) {
        this.store = builder.store;
        this.ticker = builder.ticker;
        this.scheduler = builder.scheduler == null ? Scheduler.of(ticker) : builder.scheduler;
        this.hall = new Hall(builder.policies);
        this.usher = new Usher(store, ticker, scheduler, hall);
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
     * @return an admitted decision, or a refused one with the status of the limits when the store was last asked for this
     *     caller, in times from now on; the budget it waited for tells the wait behind those ahead as well. Completed
     *     exceptionally if {@code decide}, the store, the ticker or the scheduler throws
     */
    public CompletableFuture<Decision> acquire(List<Charge> charges, Supplier<Decision> decide) {
        // first of all, as nothing may fail once the permits are taken
        CompletableFuture<Decision> result = new CompletableFuture<>();
        begin(result, charges, decide);
        return result;
    }

    /**
     * Like {@link #acquire(Charge...)}, without blocking the calling thread; see {@link #acquireAsync(List, Supplier)}.
     *
     * @param charges what to take
     * @return an admitted decision, or a refused one; completed exceptionally if the store fails
     */
    public CompletableFuture<Decision> acquireAsync(Charge... charges) {
        List<Charge> asked = List.of(charges);
        return acquireAsync(asked, () -> store.decide(asked));
    }

    /**
     * Like {@link #acquire(List, Supplier)}, without blocking the calling thread: the first attempt runs on the
     * scheduler's {@link Scheduler#blockingExecutor}, where the future completes if nobody has to wait.
     *
     * @param charges those that can make the caller wait
     * @param decide asks the store for these charges, perhaps together with others; called again for each attempt
     * @return as {@code acquire}; completed exceptionally also if too many tasks wait for that executor
     */
    public CompletableFuture<Decision> acquireAsync(List<Charge> charges, Supplier<Decision> decide) {
        CompletableFuture<Decision> result = new CompletableFuture<>();
        try {
            List<Charge> fixed = List.copyOf(charges);
            scheduler.blockingExecutor().execute(() -> {
                if (!result.isDone()) {
                    begin(result, fixed, decide);
                }
            });
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
        return result;
    }

    private void begin(CompletableFuture<Decision> result, List<Charge> charges, Supplier<Decision> decide) {
        try {
            List<Charge> asked = Charge.addUp(charges);
            long wakes = hall.wakes(asked);
            Charge contested = hall.contested(asked);
            Decision decision = contested == null ? decide.get() : store.peek(asked);
            Charge at = decision.admitted() ? contested : hall.longestWait(decision);
            if (at != null) {
                join(new Waiter(result, asked, decide, at, decision, ticker.nanos()), wakes);
            } else if (!result.complete(decision)) {
                // who has not waited on this thread may have left
                usher.giveBack(decision);
                usher.attend(Turn.brief());
            }
        } catch (Throwable e) {
            // checked exceptions, too: code in Kotlin throws them anywhere
            result.completeExceptionally(e);
        }
    }

    /** Lets a newcomer wait, unless that would take too long or there is no room. */
    @SuppressWarnings("FutureReturnValueIgnored") // leaving does not fail
    private void join(Waiter waiter, long wakes) {
        long maxWait = hall.maxWaitNanos(waiter.at);
        Due due = Due.after(waiter.last, waiter.at, waiter.lastAt);
        Turn turn = Turn.of(waiter);
        waiter.deadline = waiter.lastAt + maxWait;
        waiter.result.whenComplete((decision, failure) -> leave(waiter));
        boolean joined = false;
        for (int count = 1; !joined; count++) {
            long ahead = hall.permitsAhead(waiter.at);
            // the hall knows that its own permits come in time
            long wait = ahead == 0 ? 0 : waitBehind(ahead, waiter.at);
            waiter.expected = waiter.lastAt + wait;
            if (wait > maxWait) {
                usher.refuse(waiter);
                return;
            }
            joined = hall.join(waiter, count < COUNTS ? ahead : Long.MAX_VALUE, wakes, due, turn);
        }
        if (hall.waits(waiter)) {
            usher.expire(waiter, turn);
        }
        usher.attend(turn);
        if (waiter.result.isDone()) {
            // it was cancelled before it joined
            leave(waiter);
        }
    }

    /**
     * The wait until the permits of those ahead and of this caller have come back. Exact for up to the smallest capacity
     * of the limits, and for what a larger limit still has; beyond that, as if permits came back evenly. Those of
     * concurrency limits can come back at any moment.
     */
    private long waitBehind(long ahead, Charge at) {
        long sum = ahead + at.permits();
        long all = sum < 0 ? Long.MAX_VALUE : sum;
        long capacity =
                at.policy().limits().stream().mapToLong(Limit::capacity).min().orElse(1);
        long asked = Math.min(all, capacity);
        long wait = 0;
        for (LimitStatus status :
                store.peek(List.of(at.policy().charge(at.key(), asked))).limits()) {
            if (!status.limit().concurrency()) {
                wait = Math.max(wait, waitNanos(status, asked, all));
            }
        }
        return wait;
    }

    /** The wait until a limit has all of these permits, after it was asked for some of them. */
    private static long waitNanos(LimitStatus status, long asked, long all) {
        boolean has = status.admitted();
        if (has && all <= status.remaining()) {
            return 0;
        }
        long known = has ? status.nextAvailableNanos() : status.retryAfterNanos();
        long rest = BigInteger.valueOf(all - (has ? status.remaining() + 1 : asked))
                .multiply(BigInteger.valueOf(status.limit().replenishNanos()))
                .divide(BigInteger.valueOf(status.limit().capacity()))
                .min(BigInteger.valueOf(Long.MAX_VALUE / 2))
                .longValueExact();
        return Math.min(known, Long.MAX_VALUE / 2) + rest;
    }

    private void leave(Waiter waiter) {
        if (hall.waits(waiter)) {
            Turn turn = Turn.brief();
            hall.left(waiter, turn);
            usher.attend(turn);
        }
    }

    /**
     * Asks again at once for whoever waits for this budget, because permits were refunded. Asks on the scheduler's
     * executor; does nothing if nobody waits.
     *
     * @param policy whose permits were refunded
     * @param key whose budget; the empty string if all callers share one
     */
    public void wake(Policy policy, String key) {
        if (hall.wake(policy, key)) {
            usher.attend(Turn.brief());
        }
    }

    /**
     * Asks again at once for all who wait for permits of a policy, because its limits have changed.
     *
     * @param policy its name
     */
    public void wake(String policy) {
        if (hall.wake(policy)) {
            usher.attend(Turn.brief());
        }
    }

    /**
     * Changes how long callers may wait for permits of a policy from now on. Those who already wait keep the time that
     * they have, unless they are asked for again, such as after {@link #wake(String)}, and their own permits take longer than
     * the new one.
     *
     * @param policy its name
     * @param maxWait from zero to one day; zero refuses at once
     * @throws IllegalArgumentException if {@code maxWait} is out of range, or the queue was built without this policy
     */
    public void maxWait(String policy, Duration maxWait) {
        hall.maxWaitNanos(policy, Waiting.of(maxWait, 0).maxWait().toNanos());
    }

    /**
     * {@return the number of callers who wait for permits of a policy, over all keys}
     *
     * @param policy its name
     */
    public int waiting(String policy) {
        return hall.size(policy);
    }

    /**
     * Refuses everybody who waits, and whoever would have to wait from now on. Does not close the store. Idempotent.
     */
    @Override
    public void close() {
        Turn turn = Turn.answering();
        hall.close(turn);
        usher.attend(turn);
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
