package dev.ratelimit.benchmarks;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The floor of limits by key: one array of pairs of longs, a 64-bit hash of the key and the arrival time of its
 * {@link Gcra}, with open addressing. It stores no keys, drops none, never grows, and does not distinguish two keys
 * with the same hash. Times are relative to the start, so that 0 is full.
 */
final class BareTable {

    private static final long START = System.nanoTime();

    private final AtomicLongArray pairs;
    private final int slots;
    private final Gcra gcra;

    /** A table for {@code keys}, which fill two thirds of it. */
    BareTable(int keys, Gcra gcra) {
        this.slots = keys + keys / 2;
        this.pairs = new AtomicLongArray(slots * 2);
        this.gcra = gcra;
    }

    static long now() {
        return System.nanoTime() - START;
    }

    boolean tryAcquire(String key) {
        return tryAcquire(find(key), now());
    }

    boolean tryAcquire(int place, long now) {
        return gcra.tryAcquire(pairs, place + 1, now);
    }

    /** Finds the slot of a key, or reserves one. */
    int find(String key) {
        long hash = hash(key);
        int slot = (int) (((hash >>> 32) * slots) >>> 32);
        while (true) {
            int place = slot * 2;
            long found = pairs.get(place);
            if (found == hash || (found == 0 && pairs.compareAndSet(place, 0, hash))) {
                return place;
            }
            // even if another thread was faster, perhaps with the same key
            if (found != 0) {
                slot = slot + 1 == slots ? 0 : slot + 1;
            }
        }
    }

    private static long hash(String key) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < key.length(); i++) {
            hash = (hash ^ key.charAt(i)) * 0x9e3779b97f4a7c15L;
        }
        hash ^= hash >>> 32;
        hash *= 0xd6e8feb86659fd93L;
        hash ^= hash >>> 32;
        return hash == 0 ? 1 : hash;
    }
}
