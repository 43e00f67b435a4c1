package dev.ratelimit.faults;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Throws at a call of a collaborator that a test selects by its number, separately for each thread: of a limit, a clock,
 * a scheduler, a store, or anything else that calls {@link #passes}.
 */
public final class Fuse {

    private static final class Arming {

        private @Nullable Supplier<? extends Throwable> thrown;
        private @Nullable String place;
        private int left;
    }

    private static final ThreadLocal<@Nullable Fuse> ALLOCATING = new ThreadLocal<>();

    private final ThreadLocal<Arming> armings = ThreadLocal.withInitial(Arming::new);

    /** The n-th call of this thread from now on throws; all others do not. */
    public void armed(int n, Supplier<? extends Throwable> what) {
        Arming arming = armings.get();
        arming.left = n;
        arming.thrown = what;
        arming.place = null;
        ALLOCATING.set(this);
    }

    /** No call of this thread throws any more; returns whether one has. */
    public boolean disarmed() {
        Arming arming = armings.get();
        boolean burnt = arming.thrown == null;
        arming.thrown = null;
        ALLOCATING.remove();
        return burnt;
    }

    /** The call that has thrown, on this thread; {@code null} if none has. */
    public @Nullable String place() {
        return armings.get().place;
    }

    /** A call that may throw. */
    public void passes(String place) {
        Arming arming = armings.get();
        Supplier<? extends Throwable> what = arming.thrown;
        if (what != null && --arming.left == 0) {
            arming.thrown = null;
            arming.place = place;
            sneak(what.get());
        }
    }

    /** What {@link Starvation} calls before each allocation. */
    public static void allocates(String place) {
        Fuse fuse = ALLOCATING.get();
        if (fuse != null) {
            fuse.passes("allocation in " + place);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable what) throws T {
        throw (T) what;
    }

    /** The same clock, which may throw. */
    public Ticker onTicker(Ticker ticker) {
        return new Ticker() {
            @Override
            public long nanos() {
                passes("nanos");
                return ticker.nanos();
            }

            @Override
            public long epochNanos() {
                passes("epochNanos");
                return ticker.epochNanos();
            }
        };
    }

    /** The same scheduler, which may throw before and after it has done something. */
    public Scheduler onScheduler(Scheduler scheduler) {
        return new Scheduler() {
            @Override
            public Alarm schedule(Runnable task, long delayNanos) {
                passes("schedule");
                Alarm alarm = scheduler.schedule(task, delayNanos);
                passes("scheduled");
                return () -> {
                    alarm.cancel();
                    passes("cancelled");
                };
            }

            @Override
            public void sleep(long nanos) throws InterruptedException {
                passes("sleep");
                scheduler.sleep(nanos);
            }

            @Override
            public Executor executor() {
                passes("executor");
                return on(scheduler.executor());
            }
        };
    }

    /** The same executor, which may throw before and after it has run or taken a task. */
    public Executor on(Executor executor) {
        return task -> {
            passes("execute");
            executor.execute(task);
            passes("executed");
        };
    }

    /** The same store, which may throw before it has done something. */
    public RateLimitStore on(RateLimitStore store) {
        return new RateLimitStore() {
            @Override
            public Decision decide(List<Charge> charges) {
                passes("decide");
                return store.decide(charges);
            }

            @Override
            public Decision peek(List<Charge> charges) {
                passes("peek");
                return store.peek(charges);
            }

            @Override
            public void refund(Decision decision, List<Charge> part) {
                passes("refund");
                store.refund(decision, part);
            }

            @Override
            public CompletionStage<Decision> decideAsync(List<Charge> charges) {
                return passing("decide", () -> store.decideAsync(charges));
            }

            @Override
            public CompletionStage<Decision> peekAsync(List<Charge> charges) {
                return passing("peek", () -> store.peekAsync(charges));
            }

            @Override
            public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
                return passing("refund", () -> store.refundAsync(decision, part));
            }

            @Override
            public boolean reset(Policy policy, String key) {
                passes("reset");
                return store.reset(policy, key);
            }
        };
    }

    private <T extends @Nullable Object> CompletionStage<T> passing(String place, Supplier<CompletionStage<T>> call) {
        try {
            passes(place);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
        return call.get();
    }

    /** A clock that a test sets, and that may throw. */
    public final class Clock implements Ticker, Scheduler {

        private final Deque<Runnable> alarms = new ConcurrentLinkedDeque<>();
        private final AtomicLong nanos = new AtomicLong();

        public void advance(long by) {
            nanos.addAndGet(by);
        }

        @Override
        public long nanos() {
            passes("nanos");
            return nanos.get();
        }

        @Override
        public long epochNanos() {
            return nanos();
        }

        @Override
        public Alarm schedule(Runnable task, long delayNanos) {
            alarms.add(task);
            return () -> alarms.remove(task);
        }

        /** Runs the first alarm, which can be run again. */
        public void ring() {
            alarms.getFirst().run();
        }

        /** Runs the first alarm, if there is one, for the last time. */
        public void ringOnce() {
            Runnable alarm = alarms.poll();
            if (alarm != null) {
                alarm.run();
            }
        }
    }

    /** The same limit, which may throw at each call. */
    public LimitAlgorithm on(LimitAlgorithm limit) {
        return new Fused(this, limit);
    }

    private record Fused(Fuse fuse, LimitAlgorithm limit) implements LimitAlgorithm {

        private LimitAlgorithm limit(Fuse calls) {
            calls.passes("limit");
            return limit;
        }

        @Override
        public Rate rate() {
            return limit.rate();
        }

        @Override
        public long capacity() {
            return limit(fuse).capacity();
        }

        @Override
        public long replenishNanos() {
            return limit.replenishNanos();
        }

        @Override
        public boolean wallClock() {
            return limit(fuse).wallClock();
        }

        @Override
        public int stateSize() {
            return limit(fuse).stateSize();
        }

        @Override
        public boolean grows() {
            return limit(fuse).grows();
        }

        @Override
        public void clear(long[] state, int at, long now) {
            limit(fuse).clear(state, at, now);
        }

        @Override
        public boolean admits(long[] state, int at, long permits, long now) {
            return limit(fuse).admits(state, at, permits, now);
        }

        @Override
        public void charge(long[] state, int at, long permits, long now) {
            limit(fuse).charge(state, at, permits, now);
            if (!limit.grows()) {
                // after writing the state; a growing state is too long for a store to remember
                fuse.passes("limit");
            }
        }

        @Override
        public void refund(long[] state, int at, long permits, long ageNanos, long now) {
            limit(fuse).refund(state, at, permits, ageNanos, now);
            fuse.passes("limit");
        }

        @Override
        public long remaining(long[] state, int at, long now) {
            return limit(fuse).remaining(state, at, now);
        }

        @Override
        public long retryAfterNanos(long[] state, int at, long permits, long now) {
            return limit(fuse).retryAfterNanos(state, at, permits, now);
        }

        @Override
        public long fullAfterNanos(long[] state, int at, long now) {
            return limit(fuse).fullAfterNanos(state, at, now);
        }

        @Override
        public long tryCharge(long state, long permits, long now) {
            return limit(fuse).tryCharge(state, permits, now);
        }

        @Override
        public long[] grow(long[] state, int at, long permits, long now) {
            return limit(fuse).grow(state, at, permits, now);
        }

        @Override
        public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
            return limit(fuse).adopt(state, at, ((Fused) former).limit, formerState, now);
        }

        @Override
        public long share(long used, long whole) {
            return limit(fuse).share(used, whole);
        }

        @Override
        public boolean equals(Object other) {
            fuse.passes("limit");
            return other instanceof Fused fused && limit.equals(fused.limit);
        }

        @Override
        public int hashCode() {
            fuse.passes("limit");
            return limit.hashCode();
        }
    }
}
