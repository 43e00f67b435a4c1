package dev.ratelimit.memory;

import java.security.SecureRandom;

/**
 * A hash of a key's characters by numbers that nobody outside the process knows, so that nobody can choose keys that
 * share a place, or that crowd one part of a table.
 *
 * <p>Three characters a time are the coefficients of a polynomial, whose value at a secret point is taken modulo the prime
 * {@code 2^61 - 1} (Carter and Wegman, "Universal classes of hash functions", 1979). Two different keys of at most n
 * characters, chosen without knowledge of the point, have the same value with a chance of at most {@code (n/3 + 2) / 2^61}.
 * The value is scrambled so that keys that are alike do not lie together; {@link #BITS} bits of that are kept.
 *
 * <p>Costs time in proportion to the length, and allocates nothing. Thread-safe.
 */
final class KeyHash {

    /** The bits that tell keys apart. The highest bit of a hash is set and the lowest seven are not. */
    static final int BITS = 56;

    private static final long PRIME = (1L << 61) - 1;
    private static final int CHARS = 3;
    private static final long KEPT = -1L << (Long.SIZE - 1 - BITS);

    private static final long POINT;
    private static final long FACTOR;

    static {
        SecureRandom random = new SecureRandom();
        POINT = 1 + (random.nextLong() >>> 3) % (PRIME - 1);
        FACTOR = random.nextLong() | 1;
    }

    /** The hash of the key of policies without keys. */
    static final long OF_EMPTY = of("");

    private KeyHash() {}

    /** The hash of this key in this process. */
    static long of(String key) {
        int length = key.length();
        long value = length + 1L;
        int at = 0;
        for (; at <= length - CHARS; at += CHARS) {
            value = next(value, (long) key.charAt(at) << 32 | (long) key.charAt(at + 1) << 16 | key.charAt(at + 2));
        }
        if (at < length) {
            long last = (long) key.charAt(at) << 16;
            value = next(value, at + 1 < length ? last | key.charAt(at + 1) : last);
        }
        return scrambled(value >= PRIME ? value - PRIME : value);
    }

    /** {@code value * POINT + coefficient} modulo the prime; it may be the prime itself, or a little more. */
    private static long next(long value, long coefficient) {
        long low = value * POINT;
        long high = Math.multiplyHigh(value, POINT) << 3 | low >>> 61;
        long sum = (low & PRIME) + high + coefficient;
        return (sum & PRIME) + (sum >>> 61);
    }

    private static long scrambled(long value) {
        long scrambled = value * FACTOR;
        scrambled = (scrambled ^ scrambled >>> 32) * 0xD6E8FEB86659FD93L;
        return ((scrambled ^ scrambled >>> 32) | Long.MIN_VALUE) & KEPT;
    }
}
