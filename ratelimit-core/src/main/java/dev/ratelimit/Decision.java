package dev.ratelimit;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The answer to some charges: all were taken, or none. Immutable.
 *
 * @param admitted whether every limit admitted
 * @param limits how each limit stands, in the order of the charges and of their policies' limits
 * @param atNanos when it was decided, on the store's own timeline; only good for a refund at the same store
 */
public record Decision(boolean admitted, List<LimitStatus> limits, long atNanos) {

    /** Copies the list. */
    public Decision {
        limits = List.copyOf(limits);
    }

    /** The limits that refused, the longest wait first; empty when admitted. */
    public List<LimitStatus> violated() {
        return refusals()
                .sorted(Comparator.comparingLong(LimitStatus::retryAfterNanos).reversed())
                .toList();
    }

    /**
     * The least wait until the same charges would be admitted if nobody else came, in nanoseconds: the longest wait of
     * all limits. 0 when admitted, {@link Limit#NEVER} when no wait helps.
     */
    public long retryAfterNanos() {
        return refusals().mapToLong(LimitStatus::retryAfterNanos).max().orElse(0);
    }

    /** {@link #retryAfterNanos()} as a duration; ask {@link #never()} first. */
    public Duration retryAfter() {
        return Duration.ofNanos(retryAfterNanos());
    }

    /** Whether the charges exceed what a limit can ever admit, so that waiting is pointless. */
    public boolean never() {
        return retryAfterNanos() == Limit.NEVER;
    }

    private Stream<LimitStatus> refusals() {
        return limits.stream().filter(limit -> !limit.admitted());
    }
}
