package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A server's clock, as far as its answers tell: enough to say until when, by that clock, a charge is worth executing. What
 * reaches the server later, after it has hung for example, then charges nothing. Thread-safe.
 */
final class ServerClock {

    /** Expiries are multiples of this many microseconds plus a number, which makes each a different one. */
    private static final int NUMBERS = 1 << 12;

    /** Later than any server's clock; still exact as a double. */
    private static final long NEVER = 1L << 52;

    /** About 35 years, so that an expiry is earlier than {@link #NEVER}. */
    private static final long MAX_DEADLINE = 1L << 50;

    private final Ticker ticker;
    private final long deadlineMicros;
    private final AtomicInteger asked = new AtomicInteger();

    /**
     * The latest that the server's clock can have been at some time by the ticker. Of answers that come at the same time,
     * any one may be kept, as each is true.
     */
    private volatile @Nullable Reading latest;

    /** What a clock shows, in microseconds, at this time by the ticker, which may wrap around. */
    private record Reading(long nanos, long micros) {

        long microsAt(long otherNanos) {
            return micros + (otherNanos - nanos) / 1000;
        }
    }

    /** Creates a clock of which nothing is known. */
    ServerClock(Ticker ticker, long deadlineNanos) {
        this.ticker = ticker;
        this.deadlineMicros = Math.min(MAX_DEADLINE, deadlineNanos / 1000);
    }

    /**
     * The time, by the server's clock, after which the answer to a question written now would be too late; the maximum
     * while nothing is known. It also identifies the question: among the last few thousand, no two are equal.
     */
    long expiryMicros() {
        int number = asked.getAndIncrement() & NUMBERS - 1;
        Reading known = latest;
        if (known == null) {
            return NEVER + number;
        }
        long expiry = known.microsAt(ticker.nanos()) + deadlineMicros;
        return Math.floorDiv(expiry, NUMBERS) * NUMBERS + NUMBERS + number;
    }

    /**
     * Learns from an answer that has just come to what was written at this time by the ticker. Follows clocks that are set.
     */
    void heard(long writtenNanos, long serverMicros) {
        Reading known = latest;
        // the server read its clock in between; an answer that took long, as after a hang, tells less than an earlier
        // one,
        // unless that has become impossible
        if (known == null
                || known.microsAt(writtenNanos) > serverMicros
                || known.microsAt(ticker.nanos()) < serverMicros) {
            latest = new Reading(writtenNanos, serverMicros);
        }
    }
}
