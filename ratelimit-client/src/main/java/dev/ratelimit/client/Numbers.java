package dev.ratelimit.client;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Pattern;

/** Numbers in fields of responses: not negative, and as large as the sender likes. */
final class Numbers {

    static final long UNREADABLE = -1;

    /** A hundred million years in seconds, so that sums do not overflow. */
    static final long MAX = 999_999_999_999_999L;

    private static final Pattern DECIMAL = Pattern.compile("\\d+(?:\\.\\d+)?");

    private Numbers() {}

    /** Digits, with a fraction or without, and the point so many digits further left; at most {@link #MAX}. */
    static long of(String text, int left, RoundingMode rounding) {
        if (!DECIMAL.matcher(text).matches()) {
            return UNREADABLE;
        }
        return new BigDecimal(text)
                .movePointLeft(left)
                .setScale(0, rounding)
                .min(BigDecimal.valueOf(MAX))
                .longValueExact();
    }
}
