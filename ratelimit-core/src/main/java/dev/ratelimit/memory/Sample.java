package dev.ratelimit.memory;

import java.util.function.LongPredicate;

/**
 * The keys that a search for an eviction looks at: only a few, so that the search does not take longer with more keys
 * or more charges in a call. Used for one search by one thread.
 */
final class Sample {

    private static final int MAX_LOOKED_AT = 16;
    private static final int MAX_KEPT = 256;

    /** The key that needs room, and the start of the search. */
    final long hash;

    private final LongPredicate kept;
    private int lookedAt;
    private int passedBy;

    /**
     * Creates a search for room for the key with this hash.
     *
     * @param kept the hashes of keys that are passed by
     */
    Sample(long hash, LongPredicate kept) {
        this.hash = hash;
        this.kept = kept;
    }

    /** Whether to look at one more key. */
    boolean goesOn() {
        return lookedAt < MAX_LOOKED_AT && passedBy < MAX_KEPT;
    }

    /** Whether the key with this hash is kept, and passed by. */
    boolean keeps(long other) {
        boolean keeps = kept.test(other);
        passedBy += keeps ? 1 : 0;
        return keeps;
    }

    void lookedAtOne() {
        lookedAt++;
    }
}
