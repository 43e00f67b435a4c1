package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The answer to some charges: all were taken, or none. Immutable.
 *
 * @param admitted whether every limit admitted
 * @param limits how each limit stands, in the order of the charges and of their policies' limits
 * @param atNanos when it was decided, on the store's own timeline; only good for a refund at the same store
 */
public record Decision(boolean admitted, List<LimitStatus> limits, long atNanos) {

    private static final Comparator<LimitStatus> LONGEST_WAIT_FIRST =
            Comparator.comparingLong(LimitStatus::retryAfterNanos).reversed();

    /** Copies the list. */
    public Decision {
        limits = List.copyOf(limits);
    }

    /** The limits that refused, the longest wait first; empty when admitted. */
    public List<LimitStatus> violated() {
        List<LimitStatus> violated = new ArrayList<>(limits.size());
        for (LimitStatus limit : limits) {
            if (!limit.admitted()) {
                violated.add(limit);
            }
        }
        violated.sort(LONGEST_WAIT_FIRST);
        return List.copyOf(violated);
    }

    /**
     * The least wait until the same charges would be admitted if nobody else came, in nanoseconds: the longest wait of
     * all limits. 0 when admitted, {@link Limit#NEVER} when no wait helps.
     */
    public long retryAfterNanos() {
        long longest = 0;
        for (LimitStatus limit : limits) {
            longest = Math.max(longest, limit.retryAfterNanos());
        }
        return longest;
    }

    /** {@link #retryAfterNanos()} as a duration; ask {@link #never()} first. */
    public Duration retryAfter() {
        return Duration.ofNanos(retryAfterNanos());
    }

    /** Whether the charges exceed what a limit can ever admit, so that waiting is pointless. */
    public boolean never() {
        return retryAfterNanos() == Limit.NEVER;
    }
}
