package dev.ratelimit;

/**
 * One limit: an algorithm with its parameters, such as {@code TokenBucket.of(Rate.parse("100/minute"))}. Immutable.
 * Limits are equal if their parameters are, and {@code toString} shows the parameters.
 *
 * <p>Each limit is a {@link LimitAlgorithm}, which defines how it counts; only stores need to know that.
 */
public sealed interface Limit permits LimitAlgorithm {

    /** {@return the configured rate} */
    Rate rate();

    /** {@return the maximum number of permits that the limit admits at once, at least 1} */
    long capacity();

    /** {@return the time in which {@link #capacity()} permits come back, in nanoseconds} */
    long replenishNanos();

    /**
     * {@return whether permits come back when they are refunded rather than with time: a limit of what is done at once}
     */
    default boolean concurrency() {
        return false;
    }

    /** {@return a description for readers, such as {@code 600 per minute}} */
    default String describe() {
        return rate().describe();
    }
}
