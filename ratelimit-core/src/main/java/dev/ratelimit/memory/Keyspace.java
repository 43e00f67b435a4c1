package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The entries of one limit of one policy, at most {@code maxKeys} of them.
 *
 * <p>When it is full, a new key takes the place of keys that are full again, else of the fullest of a sample, but never of
 * an exhausted one: nobody gets a fresh budget by flooding the table. A key that finds no place shares the overflow
 * entry with all the others that found none.
 */
final class Keyspace {

    private static final int SAMPLE = 16;

    /** The overflow's key; equal to no string. */
    private static final Object OVERFLOW = new Object();

    private static final AtomicLong SERIALS = new AtomicLong();

    private final int maxKeys;
    private final StoreClock clock;
    private final ConcurrentHashMap<Object, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicInteger size = new AtomicInteger();
    private final LongAdder evictedFull = new LongAdder();
    private final LongAdder evictedActive = new LongAdder();
    private final ReentrantLock evicting = new ReentrantLock();
    private Iterator<Map.Entry<Object, Entry>> hand = entries.entrySet().iterator();

    Keyspace(int maxKeys, StoreClock clock) {
        this.maxKeys = maxKeys;
        this.clock = clock;
    }

    int size() {
        return size.get();
    }

    long evictedFull() {
        return evictedFull.sum();
    }

    long evictedActive() {
        return evictedActive.sum();
    }

    /** The entry of this key, whatever its limit, which may be dead by now; {@code null} when the key is full. */
    @Nullable
    Entry find(String key) {
        return findAlive(key);
    }

    /** The entry of this key under this limit, which may be dead by now; {@code null} when the key is full. */
    @Nullable
    Entry find(String key, Limit limit) {
        return find((Object) key, limit);
    }

    private @Nullable Entry find(Object key, Limit limit) {
        while (true) {
            Entry entry = findAlive(key);
            if (entry == null || entry.limit == limit || entry.limit.equals(limit)) {
                return entry;
            }
            replace(key, entry, limit);
        }
    }

    private @Nullable Entry findAlive(Object key) {
        Entry entry = entries.get(key);
        while (entry != null && entry.dead()) {
            remove(key, entry);
            entry = entries.get(key);
        }
        return entry;
    }

    /** The entry of this key under this limit, made if there is none; the overflow entry if there is no place. */
    Entry findOrCreate(String key, Limit limit) {
        Entry found = find(key, limit);
        if (found != null) {
            return found;
        }
        boolean placed = reservePlace();
        Object place = placed ? key : OVERFLOW;
        while (true) {
            Entry fresh = newEntry(limit, Entry.absent(limit, clock.now(limit)));
            if (entries.putIfAbsent(place, fresh) == null) {
                return fresh;
            }
            found = find(place, limit);
            if (found != null) {
                if (placed) {
                    size.decrementAndGet();
                }
                return found;
            }
        }
    }

    /** Forgets what the key has used. */
    void reset(String key) {
        for (Entry entry = findAlive(key); entry != null; entry = findAlive(key)) {
            long[] state = entry.lock();
            if (state != null) {
                entry.limit.clear(state, 0, clock.now(entry.limit));
                entry.unlock(state);
                return;
            }
        }
    }

    /** Forgets every key that is full again. */
    void sweep() {
        for (Map.Entry<Object, Entry> place : entries.entrySet()) {
            evictIfFull(place.getKey(), place.getValue());
        }
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    private Entry newEntry(Limit limit, long[] state) {
        return new Entry(limit, SERIALS.getAndIncrement(), state);
    }

    /** Moves a key to another limit, with what it has used. */
    private void replace(Object key, Entry entry, Limit limit) {
        long[] state = entry.lock();
        if (state == null) {
            remove(key, entry);
            return;
        }
        long now = clock.now(limit);
        long[] adopted = Entry.absent(limit, now);
        Limit former = entry.limit;
        if (!limit.adopt(adopted, 0, former, state, now)) {
            long used = former.capacity() - former.remaining(state, 0, clock.now(former));
            long share = limit.share(used, former.capacity());
            if (share > 0) {
                adopted = limit.grow(adopted, share, now);
                limit.charge(adopted, 0, share, now);
            }
        }
        entries.replace(key, entry, newEntry(limit, adopted));
        entry.kill();
    }

    private boolean reservePlace() {
        while (true) {
            int taken = size.get();
            if (taken < maxKeys) {
                if (size.compareAndSet(taken, taken + 1)) {
                    return true;
                }
            } else if (!evictOne()) {
                return false;
            }
        }
    }

    /** Makes a place, looking at the next few entries only; false when all of them are exhausted. */
    private boolean evictOne() {
        evicting.lock();
        try {
            boolean freed = false;
            Map.Entry<Object, Entry> fullest = null;
            long mostRemaining = 0;
            for (int i = 0; i < SAMPLE && advanceHand(); i++) {
                Map.Entry<Object, Entry> place = hand.next();
                long remaining = evictIfFull(place.getKey(), place.getValue());
                freed |= remaining < 0;
                if (remaining > mostRemaining && place.getKey() != OVERFLOW) {
                    mostRemaining = remaining;
                    fullest = place;
                }
            }
            return freed || size.get() < maxKeys || (fullest != null && evictActive(fullest));
        } finally {
            evicting.unlock();
        }
    }

    private boolean advanceHand() {
        if (!hand.hasNext()) {
            hand = entries.entrySet().iterator();
        }
        return hand.hasNext();
    }

    /** Removes the entry if it is full again, and says so by -1; else says what remains. */
    private long evictIfFull(Object key, Entry entry) {
        long[] state = entry.lock();
        if (state == null) {
            return 0;
        }
        Limit limit = entry.limit;
        long now = clock.now(limit);
        if (limit.fullAfterNanos(state, 0, now) > 0) {
            long remaining = limit.remaining(state, 0, now);
            entry.unlock(state);
            return remaining;
        }
        entry.kill();
        remove(key, entry);
        evictedFull.increment();
        return key == OVERFLOW ? 0 : -1;
    }

    private boolean evictActive(Map.Entry<Object, Entry> place) {
        Entry entry = place.getValue();
        long[] state = entry.lock();
        if (state == null) {
            return true;
        }
        if (entry.limit.remaining(state, 0, clock.now(entry.limit)) == 0) {
            entry.unlock(state);
            return false;
        }
        entry.kill();
        remove(place.getKey(), entry);
        evictedActive.increment();
        return true;
    }

    /** Takes a dead entry out of the table; whoever manages to frees its place. */
    private void remove(Object key, Entry entry) {
        if (entries.remove(key, entry) && key != OVERFLOW) {
            size.decrementAndGet();
        }
    }
}
