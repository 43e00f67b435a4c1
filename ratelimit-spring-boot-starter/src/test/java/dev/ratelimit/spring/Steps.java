package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/**
 * Counts the steps of one thread, in whatever {@link StepMeter} has prepared. The JDK itself calls it, so it must not
 * use anything of the JDK that does.
 */
public final class Steps {

    /** More than this is no longer work but a way to keep a server busy. */
    public static final long MAX = 100_000_000;

    private static volatile @Nullable Thread counted;
    private static long steps;

    private Steps() {}

    /** Counts a method that is entered, or a loop that is repeated, by the counted thread. */
    public static void step() {
        if (counted != null && Thread.currentThread() == counted && ++steps > MAX) {
            counted = null;
            throw new AssertionError("too many steps");
        }
    }

    /** Counts the steps of this thread from now on. */
    public static void start() {
        steps = 0;
        counted = Thread.currentThread();
    }

    /** Stops counting; returns the steps that were counted, more than {@link #MAX} if there were too many. */
    public static long stop() {
        counted = null;
        return steps;
    }
}
