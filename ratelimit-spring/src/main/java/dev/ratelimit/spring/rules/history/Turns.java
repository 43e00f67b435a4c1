package dev.ratelimit.spring.rules.history;

import dev.ratelimit.Ticker;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one operator after the other ask those with whom an instance shares, and none after so long that nobody waits for
 * the answer any more. Thread-safe.
 */
public final class Turns {

    /** How long an operator waits for others, and for attempts of the own. */
    private static final long PATIENCE_NANOS = 2_000_000_000;

    private final Ticker ticker;
    private final ReentrantLock lock = new ReentrantLock(true);

    /** All turns by the time of this ticker. */
    public Turns(Ticker ticker) {
        this.ticker = ticker;
    }

    /**
     * Waits for a turn of an operator, which {@link #pass} ends.
     *
     * @return the deadline of the turn, for {@link #checkInTime}
     * @throws IllegalStateException if others take too long
     */
    public long take() {
        long deadline = ticker.nanos() + PATIENCE_NANOS;
        try {
            if (lock.tryLock(PATIENCE_NANOS, TimeUnit.NANOSECONDS)) {
                return deadline;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw tooLate();
    }

    /** Waits for a turn of the instance itself, however long that takes; {@link #pass} ends it. */
    public void await() {
        lock.lock();
    }

    /**
     * Checks before each question that the deadline of a turn has not passed.
     *
     * @throws IllegalStateException if it has
     */
    public void checkInTime(long deadline) {
        if (ticker.nanos() - deadline >= 0) {
            throw tooLate();
        }
    }

    /** Ends the turn of this thread. */
    public void pass() {
        lock.unlock();
    }

    private static IllegalStateException tooLate() {
        return new IllegalStateException(
                "changes before this one took too long, since Redis answers slowly or not at all, or other instances are"
                        + " changing the same at this moment; nothing is changed; try again");
    }
}
