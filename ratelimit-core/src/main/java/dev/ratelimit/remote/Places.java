package dev.ratelimit.remote;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Admits a maximum number of commands at once. A thread that has neither stack nor memory left may lose its place on any
 * line, so places are counted by shifts: after the next shift, those of a shift are free, whether or not somebody has left
 * them. Thread-safe.
 */
final class Places {

    /** The places taken since this time, and those that were taken in the shift before. */
    private record Shift(long sinceNanos, AtomicInteger taken, AtomicInteger before) {}

    private final int max;
    private final long shiftNanos;

    /** Replaced under the monitor, once in a shift. */
    private volatile Shift latest;

    /**
     * Creates places that are free.
     *
     * @param shiftNanos longer than a command is under way
     */
    Places(int max, long shiftNanos, long nowNanos) {
        this.max = max;
        this.shiftNanos = shiftNanos;
        this.latest = new Shift(nowNanos, new AtomicInteger(), new AtomicInteger());
    }

    /** Takes a place; returns where to give it back, or {@code null} if none is free. */
    @Nullable
    AtomicInteger take(long nowNanos) {
        Shift shift = latest;
        if (nowNanos - shift.sinceNanos >= shiftNanos) {
            shift = next(nowNanos);
        }
        int taken;
        do {
            taken = shift.taken.get();
            // those of the shift before only become fewer
            if (taken + shift.before.get() >= max) {
                return null;
            }
        } while (!shift.taken.compareAndSet(taken, taken + 1));
        return shift.taken;
    }

    private synchronized Shift next(long nowNanos) {
        Shift shift = latest;
        long age = nowNanos - shift.sinceNanos;
        if (age >= shiftNanos) {
            AtomicInteger before = age - shiftNanos < shiftNanos ? shift.taken : new AtomicInteger();
            shift = new Shift(nowNanos, new AtomicInteger(), before);
            latest = shift;
        }
        return shift;
    }
}
