package dev.ratelimit;

import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets refused callers wait for their permits in a bounded queue, without a thread: it smooths bursts instead of refusing
 * them. Thread-safe.
 *
 * <pre>{@code
 * RateLimitQueue queue = RateLimitQueue.builder(store)
 *         .policy("mail", RateLimitQueue.Waiting.of(Duration.ofSeconds(5), 100))
 *         .build();
 * queue.acquire(mail.charge("alice")).thenAccept(decision -> { if (decision.admitted()) send(); });
 * }</pre>
 *
 * <p>Callers wait in one line per budget, at the policy that makes them wait longest. The head of each line asks again when
 * its permits are due; later callers of the same budget queue behind it and never overtake it. A caller who cannot be
 * admitted within {@code maxWait}, because of the permits that those ahead of it wait for, is refused at once, and so is
 * one for whom there is no room. If other instances use up the permits, a caller is refused when its time is over.
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
         * Whoever came last, as in an overload it is the one whose client is still there. If there is no room, the oldest
         * are refused.
         */
        NEWEST_FIRST
    }

    /**
     * How callers wait under a policy.
     *
     * @param maxWait zero or more
     * @param maxWaiting how many callers, 0 or more, over all keys
     * @param order who is served first among the callers of a budget
     */
    public record Waiting(Duration maxWait, int maxWaiting, Order order) {

        private static final Duration MAX_WAIT = Duration.ofDays(1);

        /** Validates the ranges. */
        public Waiting {
            if (maxWait.isNegative() || maxWait.compareTo(MAX_WAIT) > 0) {
                throw new IllegalArgumentException("maxWait must be from 0 to 1 day but was " + maxWait);
            }
            if (maxWaiting < 0) {
                throw new IllegalArgumentException("maxWaiting must be at least 0 but was " + maxWaiting);
            }
        }

        /** The oldest caller first. */
        public static Waiting of(Duration maxWait, int maxWaiting) {
            return new Waiting(maxWait, maxWaiting, Order.OLDEST_FIRST);
        }
    }

    /** No alarm is exact: a caller whose permits are due at its deadline still gets them. */
    private static final long TOLERANCE_NANOS = 10_000_000;

    private final RateLimitStore store;
    private final Ticker ticker;
    private final Scheduler scheduler;

    /** Guards everything below, and the lines. The store is never called while it is held. */
    private final Object lock = new Object();

    private final Map<String, WaitingRoom> rooms = new HashMap<>();
    private long arrivals;
    private boolean closed;

    private RateLimitQueue(Builder builder) {
        this.store = builder.store;
        this.ticker = builder.ticker;
        this.scheduler = builder.scheduler == null ? Scheduler.of(builder.ticker) : builder.scheduler;
        builder.policies.forEach((name, waiting) -> rooms.put(name, new WaitingRoom(waiting)));
    }

    /** Starts building a queue for this store. */
    public static Builder builder(RateLimitStore store) {
        return new Builder(store);
    }

    /** Takes all charges, now or after waiting. See {@link #acquire(List, Supplier)}. */
    public CompletableFuture<Decision> acquire(Charge... charges) {
        List<Charge> asked = List.of(charges);
        return acquire(asked, () -> store.decide(asked));
    }

    /**
     * Takes all charges, now or after waiting. The future completes on the calling thread if nobody has to wait, otherwise
     * on the scheduler's executor. Cancelling it ends the wait and leaves nothing charged.
     *
     * @param decide asks the store for these charges, or for those of them that count
     * @return an admitted decision, or a refused one with the status of the limits when the caller was refused;
     *     completed exceptionally if {@code decide} throws
     */
    public CompletableFuture<Decision> acquire(List<Charge> charges, Supplier<Decision> decide) {
        try {
            Charge contested = contested(charges);
            Decision decision = contested == null ? decide.get() : store.peek(charges);
            if (contested == null && decision.admitted()) {
                return CompletableFuture.completedFuture(decision);
            }
            Charge at = contested != null && decision.admitted() ? contested : longestWait(decision);
            if (at == null) {
                return CompletableFuture.completedFuture(refused(decision));
            }
            return join(new Waiter(decide, decision), at);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** The first charge to a budget that others wait for; {@code null} if nobody has to be let first. */
    private @Nullable Charge contested(List<Charge> charges) {
        synchronized (lock) {
            for (Charge charge : charges) {
                WaitingRoom room = rooms.get(charge.policy().name());
                if (room != null && room.line(charge.key()) != null) {
                    return charge;
                }
            }
            return null;
        }
    }

    /** The charge to wait for; {@code null} if a limit refuses that nobody can wait for. */
    private @Nullable Charge longestWait(Decision decision) {
        List<LimitStatus> violated = decision.violated();
        for (LimitStatus status : violated) {
            if (!rooms.containsKey(status.policy().name()) || status.retryAfterNanos() == LimitAlgorithm.NEVER) {
                return null;
            }
        }
        return violated.isEmpty() ? null : violated.get(0).charge();
    }

    private static Decision refused(Decision decision) {
        return decision.admitted() ? new Decision(false, decision.charges(), decision.limits(), null) : decision;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // leaving a line does not fail
    private CompletableFuture<Decision> join(Waiter waiter, Charge at) {
        WaitingRoom room = room(at);
        long wait = Math.max(waiter.last.retryAfterNanos(), waitBehind(room, at, waiter));
        if (wait > room.waiting.maxWait().toNanos()) {
            return CompletableFuture.completedFuture(refused(waiter.last));
        }
        Waiter displaced;
        synchronized (lock) {
            waiter.number = arrivals++;
            waiter.deadline = ticker.nanos() + room.waiting.maxWait().toNanos();
            displaced = closed ? null : room.makeRoom(at.key());
            if (closed || !room.hasRoom()) {
                return CompletableFuture.completedFuture(refused(waiter.last));
            }
            room.add(at, waiter);
        }
        if (displaced != null) {
            displaced.result.complete(refused(displaced.last));
        }
        waiter.result.whenComplete((decision, failure) -> leave(waiter));
        waiter.expiry(scheduler.schedule(
                () -> run(() -> waiter.result.complete(refused(waiter.last))),
                room.waiting.maxWait().toNanos() + TOLERANCE_NANOS));
        serveLater(waiter, waiter.last.retryAfterNanos());
        return waiter.result;
    }

    private WaitingRoom room(Charge charge) {
        WaitingRoom room = rooms.get(charge.policy().name());
        if (room == null) {
            throw new IllegalStateException(
                    "nobody can wait for policy " + charge.policy().name());
        }
        return room;
    }

    /**
     * The wait until the permits of those ahead and of this caller have come back. Exact for up to the capacity of the
     * limits; beyond that, as if permits came back evenly.
     */
    private long waitBehind(WaitingRoom room, Charge at, Waiter waiter) {
        long ahead;
        synchronized (lock) {
            ahead = room.permitsAhead(at.key());
        }
        if (ahead == 0) {
            return 0;
        }
        long all = ahead + at.permits();
        long capacity =
                at.policy().limits().stream().mapToLong(Limit::capacity).min().orElse(1);
        long asked = Math.min(all, capacity);
        Decision then = store.peek(List.of(at.policy().charge(at.key(), asked)));
        waiter.last = waiter.last.admitted() ? refused(then) : waiter.last;
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
        Waiter head = null;
        synchronized (lock) {
            WaitingRoom.Line line = waiter.line;
            if (line != null) {
                WaitingRoom.remove(waiter);
                head = line.serving ? null : line.head();
            }
        }
        waiter.cancelAlarms();
        if (head != null) {
            serveLater(head, 0);
        }
    }

    /** Serves the waiter's line after this time, if the waiter is its head then. */
    private void serveLater(Waiter waiter, long nanos) {
        boolean head;
        synchronized (lock) {
            WaitingRoom.Line line = waiter.line;
            head = line != null && line.head() == waiter;
        }
        if (head) {
            waiter.alarm(scheduler.schedule(() -> run(() -> serve(waiter)), nanos));
        }
    }

    /** Continues on the executor, because the scheduler's thread must not block. */
    private void run(Runnable task) {
        scheduler.executor().execute(task);
    }

    /** Asks again for the head of a line, and then for the next one, as long as they are admitted. */
    private void serve(Waiter first) {
        Waiter waiter = first;
        while (waiter != null && begin(waiter)) {
            waiter = ask(waiter);
        }
    }

    /** Whether this thread may ask for the waiter: it is the head, and no other thread does so. */
    private boolean begin(Waiter waiter) {
        synchronized (lock) {
            WaitingRoom.Line line = waiter.line;
            if (line == null || line.serving || line.head() != waiter) {
                return false;
            }
            line.serving = true;
            waiter.asking = line;
            return true;
        }
    }

    /** Asks for a waiter; returns whom to ask for next at once, if anybody. */
    private @Nullable Waiter ask(Waiter waiter) {
        Decision decision;
        try {
            decision = waiter.decide.get();
        } catch (RuntimeException | Error e) {
            Waiter next = end(waiter, null);
            waiter.result.completeExceptionally(e);
            return next;
        }
        waiter.last = decision;
        Charge at = decision.admitted() || isLate(waiter, decision) ? null : longestWait(decision);
        Waiter next = end(waiter, at);
        if (at != null) {
            serveLater(waiter, decision.retryAfterNanos());
        } else if (!waiter.result.complete(decision) && decision.admitted()) {
            // it left meanwhile
            store.refund(decision);
        }
        return next;
    }

    private boolean isLate(Waiter waiter, Decision decision) {
        return decision.retryAfterNanos() > waiter.deadline - ticker.nanos() + TOLERANCE_NANOS;
    }

    /** Takes the waiter out of its line, or puts it where it waits next; returns the new head if there is one. */
    private @Nullable Waiter end(Waiter waiter, @Nullable Charge at) {
        synchronized (lock) {
            WaitingRoom.Line line = waiter.asking;
            waiter.asking = null;
            if (at == null) {
                WaitingRoom.remove(waiter);
            } else {
                WaitingRoom.move(waiter, room(at), at);
            }
            if (line == null) {
                return null;
            }
            line.serving = false;
            Waiter head = line.head();
            return head == waiter ? null : head;
        }
    }

    /** Asks again at once for whoever waits for this budget, because permits were refunded. */
    public void wake(Policy policy, String key) {
        Waiter head = null;
        synchronized (lock) {
            WaitingRoom room = rooms.get(policy.name());
            WaitingRoom.Line line = room == null ? null : room.line(key);
            head = line == null ? null : line.head();
        }
        if (head != null) {
            Waiter waiter = head;
            run(() -> serve(waiter));
        }
    }

    /** The number of callers who wait for permits of this policy. */
    public int waiting(String policy) {
        synchronized (lock) {
            WaitingRoom room = rooms.get(policy);
            return room == null ? 0 : room.size();
        }
    }

    /** Refuses everybody who waits, and whoever would have to wait from now on. Idempotent. */
    @Override
    public void close() {
        List<Waiter> all = new ArrayList<>();
        synchronized (lock) {
            closed = true;
            rooms.values().forEach(room -> all.addAll(room.waiters()));
        }
        all.forEach(waiter -> waiter.result.complete(refused(waiter.last)));
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

        /** Lets callers wait for permits of the policy with this name. Without it, they are refused at once. */
        @CanIgnoreReturnValue
        public Builder policy(String name, Waiting waiting) {
            policies.put(name, waiting);
            return this;
        }

        /** The clock for deadlines; the system's by default. */
        @CanIgnoreReturnValue
        public Builder ticker(Ticker ticker) {
            this.ticker = ticker;
            return this;
        }

        /** The scheduler of the alarms; {@linkplain Scheduler#of that of the ticker} by default. */
        @CanIgnoreReturnValue
        public Builder scheduler(Scheduler scheduler) {
            this.scheduler = scheduler;
            return this;
        }

        /** Builds the queue. */
        public RateLimitQueue build() {
            return new RateLimitQueue(this);
        }
    }
}
