package dev.ratelimit.algorithm;

import dev.ratelimit.Rate;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/** A share of a limit. */
final class Share {

    /** 73 years, in which an empty bucket must be full again. */
    private static final long MAX_REFILL_NANOS = 1L << 61;

    private final BigDecimal share;

    /**
     * Creates a share of this size.
     *
     * @throws IllegalArgumentException unless above 0 and at most 1
     */
    Share(double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("share must be above 0 and at most 1 but was " + share);
        }
        this.share = BigDecimal.valueOf(share);
    }

    /** The share of permits that are admitted at once: rounded down, at least 1. */
    long of(long permits) {
        return Math.max(1, share.multiply(BigDecimal.valueOf(permits)).longValue());
    }

    /** The share of a window's permits. */
    Rate of(Rate rate) {
        return new Rate(of(rate.permits()), rate.period());
    }

    /** The share of a bucket's refill; if that is less than one permit per period, one permit per longer period. */
    Rate ofRefill(Rate rate, long capacity) {
        BigDecimal permits = share.multiply(BigDecimal.valueOf(rate.permits()));
        if (permits.compareTo(BigDecimal.ONE) >= 0) {
            return new Rate(permits.longValue(), rate.period());
        }
        BigDecimal period = BigDecimal.valueOf(rate.periodNanos()).divide(permits, 0, RoundingMode.CEILING);
        BigDecimal longest = BigDecimal.valueOf(MAX_REFILL_NANOS / of(capacity));
        return Rate.of(1, Duration.ofNanos(period.min(longest).longValueExact()));
    }
}
