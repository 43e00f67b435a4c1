package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Throws at a call of a limit or a reading of a clock that a test selects by its number, separately for each thread.
 */
final class Fuse {

    private static final class Arming {

        private @Nullable Supplier<? extends Throwable> thrown;
        private int left;
    }

    private final ThreadLocal<Arming> armings = ThreadLocal.withInitial(Arming::new);

    /** The n-th call of this thread from now on throws; all others do not. */
    void armed(int n, Supplier<? extends Throwable> what) {
        Arming arming = armings.get();
        arming.left = n;
        arming.thrown = what;
    }

    /** No call of this thread throws any more; returns whether one has. */
    boolean disarmed() {
        Arming arming = armings.get();
        boolean burnt = arming.thrown == null;
        arming.thrown = null;
        return burnt;
    }

    private void call() {
        Arming arming = armings.get();
        Supplier<? extends Throwable> what = arming.thrown;
        if (what != null && --arming.left == 0) {
            arming.thrown = null;
            sneak(what.get());
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable what) throws T {
        throw (T) what;
    }

    /** A clock that a test sets, and that may throw. */
    final class Clock implements Ticker, Scheduler {

        private final Deque<Runnable> alarms = new ConcurrentLinkedDeque<>();
        private final AtomicLong nanos = new AtomicLong();

        void advance(long by) {
            nanos.addAndGet(by);
        }

        @Override
        public long nanos() {
            call();
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
        void ring() {
            alarms.getFirst().run();
        }

        /** Runs the first alarm, if there is one, for the last time. */
        void ringOnce() {
            Runnable alarm = alarms.poll();
            if (alarm != null) {
                alarm.run();
            }
        }
    }

    /** The same limit, which may throw at each call. */
    LimitAlgorithm on(LimitAlgorithm limit) {
        return new Fused(this, limit);
    }

    private record Fused(Fuse fuse, LimitAlgorithm limit) implements LimitAlgorithm {

        private LimitAlgorithm limit(Fuse calls) {
            calls.call();
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
                fuse.call();
            }
        }

        @Override
        public void refund(long[] state, int at, long permits, long ageNanos, long now) {
            limit(fuse).refund(state, at, permits, ageNanos, now);
            fuse.call();
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
            fuse.call();
            return other instanceof Fused fused && limit.equals(fused.limit);
        }

        @Override
        public int hashCode() {
            fuse.call();
            return limit.hashCode();
        }
    }
}
