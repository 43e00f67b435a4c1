package dev.ratelimit.algorithm;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;

/**
 * The times of the admitted permits: all in {@code (now - W, now]} count. Never more than N permits in any window, with
 * 8 bytes per remembered permit, in a ring buffer with at most four times as many places.
 *
 * <p>The state is a ring buffer: the index of the oldest time, the number of times, then the times, which never
 * decrease. It grows with use up to N, and shrinks when a charge finds at most a quarter of it in use. Immutable.
 */
public final class SlidingLog implements LimitAlgorithm {

    static final long MAX_PERMITS = 1_000_000;
    private static final int HEAD = 0;
    private static final int COUNT = 1;
    private static final int TIMES = 2;
    private static final int FIRST_TIMES = 4;

    private final Rate rate;
    private final int limit;
    private final long window;

    private SlidingLog(Rate rate) {
        if (rate.perMonth()) {
            throw new IllegalArgumentException("a sliding log cannot follow the calendar; for " + rate
                    + " use algorithm fixed-window with align: clock");
        }
        if (rate.permits() > MAX_PERMITS) {
            throw new IllegalArgumentException("a sliding log remembers each permit, so it holds at most " + MAX_PERMITS
                    + " per window but was given " + rate + "; use algorithm sliding-window");
        }
        this.rate = rate;
        this.limit = (int) rate.permits();
        this.window = rate.periodNanos();
    }

    /**
     * {@return a limit that admits the permits of one period in any such period}
     *
     * @param rate at most a million permits
     * @throws IllegalArgumentException if the rate is per month, or has more than a million permits
     */
    public static SlidingLog of(Rate rate) {
        return new SlidingLog(rate);
    }

    @Override
    public Rate rate() {
        return rate;
    }

    @Override
    public long capacity() {
        return limit;
    }

    @Override
    public long replenishNanos() {
        return window;
    }

    @Override
    public SlidingLog scaled(double share) {
        return of(new Share(share).of(rate));
    }

    @Override
    public int stateSize() {
        return TIMES + Math.min(limit, FIRST_TIMES);
    }

    @Override
    public boolean grows() {
        return true;
    }

    @Override
    public void clear(long[] state, int at, long now) {
        state[at + HEAD] = 0;
        state[at + COUNT] = 0;
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        return permits <= remaining(state, at, now);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        dropExpired(state, at, now);
        int count = (int) state[at + COUNT];
        // a step back of the clock credits nothing
        long newest = count == 0 ? now : time(state, at, count - 1);
        insert(state, at, permits, now - newest > 0 ? now : newest);
    }

    /** Charges permits as of this time, also after a step back of the clock, so that a refund finds that very time. */
    void chargeAsOf(long[] state, int at, long permits, long now) {
        dropExpired(state, at, now);
        insert(state, at, permits, now);
    }

    private static void insert(long[] state, int at, long permits, long time) {
        int count = (int) state[at + COUNT];
        boolean last = count == 0 || time - time(state, at, count - 1) >= 0;
        int from = last ? count : firstAfter(state, at, time);
        for (int i = count - 1; i >= from; i--) {
            state[slot(state, at, i + permits)] = time(state, at, i);
        }
        for (int i = 0; i < permits; i++) {
            state[slot(state, at, from + i)] = time;
        }
        state[at + COUNT] = count + permits;
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        dropExpired(state, at, now);
        int count = (int) state[at + COUNT];
        int from = firstAfter(state, at, now - ageNanos - 1);
        int to = firstAfter(state, at, now - ageNanos);
        int removed = (int) Math.min(permits, (long) to - from);
        for (int i = from; i < count - removed; i++) {
            state[slot(state, at, i)] = time(state, at, i + removed);
        }
        state[at + COUNT] -= removed;
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return limit - (state[at + COUNT] - firstAfter(state, at, now - window));
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        if (permits > limit) {
            return NEVER;
        }
        long missing = permits - remaining(state, at, now);
        if (missing <= 0) {
            return 0;
        }
        int last = firstAfter(state, at, now - window) + (int) missing - 1;
        return window - (now - time(state, at, last));
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        int count = (int) state[at + COUNT];
        return count == firstAfter(state, at, now - window) ? 0 : window - (now - time(state, at, count - 1));
    }

    @Override
    public long[] grow(long[] state, int at, long permits, long now) {
        int expired = firstAfter(state, at, now - window);
        int live = (int) state[at + COUNT] - expired;
        // more than the limit may be live if a concurrency limit was lowered
        long needed = Math.max(live, Math.min(limit, live + permits));
        int times = times(state, at);
        boolean tooLarge = times > FIRST_TIMES && needed <= times / 4;
        if (needed <= times && !tooLarge) {
            return state;
        }
        long wanted = tooLarge ? Math.max(FIRST_TIMES, 2 * needed) : Math.max(needed, 2L * times);
        long[] other = new long[at + TIMES + (int) Math.max(live, Math.min(limit, wanted))];
        System.arraycopy(state, 0, other, 0, at);
        for (int i = 0; i < live; i++) {
            other[at + TIMES + i] = time(state, at, expired + i);
        }
        other[at + COUNT] = live;
        return other;
    }

    @Override
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        if (!(former instanceof SlidingLog other)) {
            return false;
        }
        int expired = firstAfter(formerState, 0, now - other.window);
        long live = Math.min(other.limit, formerState[COUNT] - expired);
        long share = WideMath.share(live, limit, other.limit);
        for (long i = share; i > 0; i--) {
            // of as many used permits as i remain in use, so that waiting and converting can be exchanged
            long rank = limit > other.limit
                    ? WideMath.mulDivCeil(i, other.limit, limit)
                    : WideMath.mulDivFloor(i - 1, other.limit, limit) + 1;
            long age = now - time(formerState, 0, (int) (formerState[COUNT] - rank));
            // 0 if it would come back later than a period from now; a step back of the clock credits nothing
            state[at + TIMES + (int) (share - i)] = now - Math.max(Math.min(0, age), age - other.window + window);
        }
        state[at + COUNT] = share;
        return true;
    }

    /** Writes the times of a state of this log that are in the window to another one with at least as many places. */
    void copyLive(long[] from, long[] to, int at, long now) {
        int expired = firstAfter(from, 0, now - window);
        int live = (int) from[COUNT] - expired;
        for (int i = 0; i < live; i++) {
            to[at + TIMES + i] = time(from, 0, expired + i);
        }
        to[at + HEAD] = 0;
        to[at + COUNT] = live;
    }

    private void dropExpired(long[] state, int at, long now) {
        int expired = firstAfter(state, at, now - window);
        state[at + HEAD] = (state[at + HEAD] + expired) % times(state, at);
        state[at + COUNT] -= expired;
    }

    /** The index, counted from the oldest, of the first time after {@code time}: a binary search. */
    private static int firstAfter(long[] state, int at, long time) {
        int low = 0;
        int high = (int) state[at + COUNT];
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (time(state, at, middle) - time > 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private static long time(long[] state, int at, int index) {
        return state[slot(state, at, index)];
    }

    private static int slot(long[] state, int at, long index) {
        return at + TIMES + (int) ((state[at + HEAD] + index) % times(state, at));
    }

    private static int times(long[] state, int at) {
        return state.length - at - TIMES;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SlidingLog log && rate.equals(log.rate);
    }

    @Override
    public int hashCode() {
        return rate.hashCode();
    }

    @Override
    public String toString() {
        return rate + " (sliding-log)";
    }
}
