package dev.ratelimit;

/**
 * The time. Thread-safe. For tests, use {@code FakeTicker} of {@code ratelimit-test}.
 *
 * <p>A ticker that is also a {@link Scheduler} provides its own alarms: see {@link Scheduler#of}.
 */
public interface Ticker {

    /** {@return monotonic time in nanoseconds since an arbitrary point; only differences are meaningful} */
    long nanos();

    /**
     * {@return wall time in nanoseconds since the epoch} It may be set back. Used only by windows that follow the
     * clock.
     */
    long epochNanos();

    /** {@return the system's clocks} */
    static Ticker system() {
        return SystemTicker.INSTANCE;
    }
}
