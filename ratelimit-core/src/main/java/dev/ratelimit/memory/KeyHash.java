package dev.ratelimit.memory;

import java.security.SecureRandom;

/**
 * A hash of a key's characters with random numbers that are secret to the process, so that nobody can choose keys that
 * collide or crowd a part of a table.
 *
 * <p>Each three characters are a coefficient of a polynomial, which is evaluated at a secret point modulo the prime
 * {@code 2^61 - 1} (Carter and Wegman, "Universal classes of hash functions", 1979). For two different keys of at most
 * n characters, chosen without knowing the point, the collision probability is at most {@code (n/3 + 2) / 2^61}. The
 * value is mixed so that similar keys are not adjacent; {@link #BITS} bits of it are kept.
 *
 * <p>Takes time in proportion to the length, and does not allocate. Thread-safe.
 */
final class KeyHash {

    /** The bits that identify a key. In a hash, the highest bit is set and the lowest seven are not. */
    static final int BITS = 56;

    private static final long PRIME = (1L << 61) - 1;
    private static final int CHARS = 3;
    static final long KEPT = -1L << (Long.SIZE - 1 - BITS);

    private static final long POINT;
    private static final long FACTOR;

    static {
        SecureRandom random = new SecureRandom();
        POINT = 1 + (random.nextLong() >>> 3) % (PRIME - 1);
        FACTOR = random.nextLong() | 1;
    }

    /** The hash of the only key of policies without keys. */
    static final long OF_EMPTY = ofCharacters("");

    private KeyHash() {}

    /** Draws the secret now, which reads a file: the first decision may be on an event loop. */
    static void initialize() {}

    /** The hash of this key in this process. */
    static long of(String key) {
        return key.isEmpty() ? OF_EMPTY : ofCharacters(key);
    }

    private static long ofCharacters(String key) {
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
