package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import java.util.concurrent.atomic.AtomicInteger;

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

    private static final long UNKNOWN = Long.MIN_VALUE;

    private final Ticker ticker;
    private final long deadlineMicros;
    private final AtomicInteger asked = new AtomicInteger();

    /** How far the server's clock is ahead of the ticker, at most. */
    private volatile long aheadMicros = UNKNOWN;

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
        long ahead = aheadMicros;
        if (ahead == UNKNOWN) {
            return NEVER + number;
        }
        long latest = ticker.nanos() / 1000 + ahead + deadlineMicros;
        return Math.floorDiv(latest, NUMBERS) * NUMBERS + NUMBERS + number;
    }

    /**
     * Learns from an answer that has just come to what was written at this time by the ticker. Follows clocks that are set.
     */
    void heard(long writtenNanos, long serverMicros) {
        // the server read its clock in between
        long most = serverMicros - writtenNanos / 1000;
        long least = serverMicros - ticker.nanos() / 1000;
        long known = aheadMicros;
        // an answer that took long, as after a hang, tells less than an earlier one, unless that has become impossible
        if (known == UNKNOWN || known > most || known < least) {
            aheadMicros = most;
        }
    }
}
