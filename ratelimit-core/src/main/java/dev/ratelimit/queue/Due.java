package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import org.jspecify.annotations.Nullable;

/**
 * What an answer of the store says about the others who wait for the same budget: there is no need to ask for them
 * before a time. It holds until permits are refunded or limits change.
 *
 * @param permits for callers who want at least as many
 * @param notBefore when these permits can be there, unless they are refunded
 * @param tryAt when to ask for them: the same or, as nobody knows when permits of a concurrency limit come back, later
 */
record Due(long permits, long notBefore, long tryAt) {

    /** Longer than anybody waits; added to a time, it does not overflow. */
    private static final long FAR_NANOS = 2L * 24 * 60 * 60 * 1_000_000_000;

    /**
     * Reads an answer.
     *
     * @param budget any charge to it
     * @param now when the answer came
     * @return {@code null} if the next caller may get its permits at once
     */
    static @Nullable Due after(Decision answer, Charge budget, long now) {
        Due due = null;
        for (LimitStatus status : answer.limits()) {
            if (status.charge().sameBudget(budget)) {
                Due own = status.admitted() ? more(status, now) : same(status, now);
                due = due == null ? own : own == null ? due : due.and(own);
            }
        }
        return due;
    }

    /** For those who want what was refused, or more. */
    private static Due same(LimitStatus refused, long now) {
        return of(refused.charge().permits(), refused.retryAfterNanos(), refused, now);
    }

    /** For those who want more than is left. */
    private static @Nullable Due more(LimitStatus admitted, long now) {
        boolean full = admitted.nextAvailableNanos() == 0 || admitted.remaining() == Long.MAX_VALUE;
        return full ? null : of(admitted.remaining() + 1, admitted.nextAvailableNanos(), admitted, now);
    }

    private static Due of(long permits, long waitNanos, LimitStatus status, long now) {
        long tryAt = now + Math.min(waitNanos, FAR_NANOS);
        return new Due(permits, status.limit().concurrency() ? now : tryAt, tryAt);
    }

    /** For those whom both concern; otherwise, what concerns callers with fewer permits. */
    private Due and(Due other) {
        if (permits != other.permits) {
            return permits < other.permits ? this : other;
        }
        return new Due(permits, later(notBefore, other.notBefore), later(tryAt, other.tryAt));
    }

    static long later(long time, long other) {
        return time - other > 0 ? time : other;
    }

    static long earlier(long time, long other) {
        return time - other < 0 ? time : other;
    }

    boolean concerns(Waiter waiter) {
        return waiter.at.permits() >= permits;
    }

    /** When to ask for a caller whom this concerns: for permits that may come back any time, at its deadline as well. */
    long nextTry(long deadline) {
        return later(notBefore, earlier(tryAt, deadline));
    }

    /** Whether there are certainly no permits until a deadline is over; one more question at the deadline is in vain. */
    boolean isTooLateFor(long deadline) {
        long over = notBefore - deadline;
        return tryAt == notBefore ? over > Line.TOLERANCE_NANOS : over >= 0;
    }
}
