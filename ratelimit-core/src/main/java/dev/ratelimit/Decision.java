package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of charging: all charges were taken, or none. It knows its charges, so it is all that a refund needs
 * ({@link RateLimitStore#refund(Decision)}). Immutable.
 */
public final class Decision {

    private static final Comparator<LimitStatus> LONGEST_WAIT_FIRST =
            Comparator.comparingLong(LimitStatus::retryAfterNanos).reversed();

    private final boolean admitted;
    private final List<Charge> charges;
    private final List<LimitStatus> limits;
    private final @Nullable Object receipt;

    /**
     * Creates the decision of a store. The lists are not copied: neither may change afterwards.
     *
     * @param admitted whether all limits admitted
     * @param charges with charges to the same budget added up, as {@link Charge#addUp} does
     * @param limits in the order of the charges and of their policies' limits; see {@link #complete}
     * @param receipt what the store needs for a refund; {@code null} if nothing was taken
     */
    public Decision(boolean admitted, List<Charge> charges, List<LimitStatus> limits, @Nullable Object receipt) {
        this.admitted = admitted;
        this.charges = charges;
        this.limits = limits;
        this.receipt = receipt;
    }

    /**
     * {@return whether every limit admitted, so that the charges were taken; for a peek, whether they would have been}
     */
    public boolean admitted() {
        return admitted;
    }

    /** {@return the charges, with charges to the same budget added up} Unmodifiable. */
    public List<Charge> charges() {
        return charges;
    }

    /**
     * {@return the status of each limit, in the order of the charges and of their policies' limits} A store that
     * decides without asking every limit omits some, so find the status of a charge by {@link LimitStatus#charge}, not
     * by position. Unmodifiable.
     */
    public List<LimitStatus> limits() {
        return limits;
    }

    /**
     * {@return whether {@link #limits} contains every limit of every charge} It does not if a store refuses from a
     * cache, and lists only the limits that refuse, or if it admits without asking.
     */
    public boolean complete() {
        int all = 0;
        for (Charge charge : charges) {
            all += charge.policy().limits().size();
        }
        return all == limits.size();
    }

    /**
     * {@return the position in {@link #charges} of the charge that this one is a part of} For stores, before they
     * refund a part.
     *
     * @param part a charge to one of the budgets, with at most its permits
     * @throws IllegalArgumentException if there is no charge to this budget, or it has fewer permits
     */
    public int indexOf(Charge part) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).sameBudget(part)) {
                long charged = charges.get(i).permits();
                if (part.permits() > charged) {
                    throw new IllegalArgumentException("permits to refund must be at most the " + charged
                            + " charged to policy " + part.policy().name() + " but was " + part.permits());
                }
                return i;
            }
        }
        throw new IllegalArgumentException("the decision did not charge this budget of policy "
                + part.policy().name());
    }

    /** {@return what the store keeps here for a refund, or {@code null}} Only that store can interpret it. */
    public @Nullable Object receipt() {
        return receipt;
    }

    /** {@return the limits that refused, longest wait first; empty if admitted} Unmodifiable. */
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
     * {@return the minimum wait in nanoseconds until the same charges would be admitted without other callers: the
     * longest wait of all limits} 0 if admitted, {@link LimitAlgorithm#NEVER} if no wait helps.
     */
    public long retryAfterNanos() {
        long longest = 0;
        for (LimitStatus limit : limits) {
            longest = Math.max(longest, limit.retryAfterNanos());
        }
        return longest;
    }

    /**
     * {@return {@link #retryAfterNanos()} as a duration; {@code null} if no wait helps, because a limit can never admit
     * the charges}
     */
    public @Nullable Duration retryAfter() {
        long nanos = retryAfterNanos();
        return nanos == LimitAlgorithm.NEVER ? null : Duration.ofNanos(nanos);
    }

    /** Decisions are equal if their charges, results and limits are, whatever their receipts. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Decision decision
                && admitted == decision.admitted
                && charges.equals(decision.charges)
                && limits.equals(decision.limits);
    }

    @Override
    public int hashCode() {
        return 31 * charges.hashCode() + limits.hashCode();
    }

    @Override
    public String toString() {
        return (admitted ? "admitted " : "refused ") + limits;
    }
}
