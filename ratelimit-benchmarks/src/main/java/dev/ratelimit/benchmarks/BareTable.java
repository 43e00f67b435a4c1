package dev.ratelimit.benchmarks;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The floor of limits by key: one array of pairs of longs, a 64-bit hash of the key and its {@link Gcra}'s arrival time, found by
 * open addressing. It stores no keys, forgets none, never grows, and takes two keys of one hash for one. Times count from
 * the start, so that 0 is full.
 */
final class BareTable {

    private static final long START = System.nanoTime();

    private final AtomicLongArray pairs;
    private final int mask;
    private final Gcra gcra;

    /** With room for {@code keys}, of which a quarter to a half of all places are taken. */
    BareTable(int keys, Gcra gcra) {
        int places = Integer.highestOneBit(keys) * 4;
        this.pairs = new AtomicLongArray(places * 2);
        this.mask = places - 1;
        this.gcra = gcra;
    }

    static long now() {
        return System.nanoTime() - START;
    }

    boolean tryAcquire(String key) {
        return tryAcquire(find(key), now());
    }

    boolean tryAcquire(int place, long now) {
        while (true) {
            long seen = pairs.get(place + 1);
            long next = gcra.charge(seen, now);
            if (next == Gcra.REFUSED) {
                return false;
            }
            if (pairs.compareAndSet(place + 1, seen, next)) {
                return true;
            }
        }
    }

    /** Gives back what was taken at this place. */
    void refund(int place) {
        pairs.updateAndGet(place + 1, gcra::refund);
    }

    /** The place of a key, taken for it where it had none. */
    int find(String key) {
        long hash = hash(key);
        int slot = (int) (hash >>> 32) & mask;
        while (true) {
            int place = slot * 2;
            long found = pairs.get(place);
            if (found == hash || (found == 0 && pairs.compareAndSet(place, 0, hash))) {
                return place;
            }
            // also where another thread came first, perhaps with the same key
            if (found != 0) {
                slot = (slot + 1) & mask;
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
