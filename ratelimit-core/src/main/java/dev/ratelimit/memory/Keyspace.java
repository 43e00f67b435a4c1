package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one limit of one policy, at most {@code maxKeys} of them, in segments.
 *
 * <p>When it is full, a new key takes the place of one that is full again, else of the fullest of a sample, but never of
 * an exhausted one: nobody gets a fresh budget by flooding the table. A key that finds no place shares the overflow's
 * budget with all the others that found none.
 */
final class Keyspace {

    /** So many bits of a hash, after the highest, choose the segment; the first of them where there are fewer segments. */
    static final int SEGMENT_BITS = 14;

    /** The overflow's hash; no key's but with a chance of one in 2^56. */
    static final long OVERFLOW = Long.MIN_VALUE;

    private static final int SAMPLE = 16;

    /** Few enough that the arrays stay below half a MB, from which on some collectors round them up to whole ones. */
    private static final int KEYS_A_SEGMENT = 1 << 13;

    /** The share of a full table's slots that are taken, and the standard deviations by which a segment may get more. */
    private static final double LOAD = 0.65;

    private static final double DEVIATIONS = 5;

    private static final AtomicLong SERIALS = new AtomicLong();

    /** Orders keyspaces, for locking keys of several. */
    final long serial = SERIALS.getAndIncrement();

    private final int maxKeys;
    private final StoreClock clock;
    private final long slotsASegment;
    private final AtomicReferenceArray<@Nullable Segment> segments;
    private final Segment overflow;
    private final int shift;
    private final AtomicInteger size = new AtomicInteger();
    private final LongAdder evictedFull = new LongAdder();
    private final LongAdder evictedActive = new LongAdder();

    Keyspace(int maxKeys, StoreClock clock) {
        this.maxKeys = maxKeys;
        this.clock = clock;
        int bits = Math.min(SEGMENT_BITS, 32 - Integer.numberOfLeadingZeros(maxKeys / KEYS_A_SEGMENT));
        this.shift = SEGMENT_BITS - bits;
        this.segments = new AtomicReferenceArray<>(1 << bits);
        double share = (double) maxKeys / segments.length();
        double most = bits == 0 ? share : share + DEVIATIONS * Math.sqrt(share);
        this.slotsASegment = (long) Math.ceil(most / LOAD);
        this.overflow = new Segment(this, clock, 1);
    }

    /** How many keys there are. */
    int size() {
        return size.get();
    }

    long evictedFullCount() {
        return evictedFull.sum();
    }

    long evictedActiveCount() {
        return evictedActive.sum();
    }

    /** The most memory that tables of states of this limit take, without what grows. */
    long mostBytes(Limit limit) {
        return segments.length() * slotsASegment * Table.bytesASlot(limit);
    }

    /** The memory of the tables, without what grows. */
    long bytes() {
        long bytes = overflow.bytes();
        for (int i = 0; i < segments.length(); i++) {
            Segment segment = segments.getAcquire(i);
            bytes += segment == null ? 0 : segment.bytes();
        }
        return bytes;
    }

    /** Where the key is, if it is anywhere. */
    Segment segment(long hash) {
        return segment(number(hash));
    }

    private Segment segment(int number) {
        Segment segment = segments.getAcquire(number);
        if (segment == null) {
            segments.compareAndSet(number, null, new Segment(this, clock, slotsASegment));
            segment = segments.getAcquire(number);
        }
        return Objects.requireNonNull(segment);
    }

    private int number(long hash) {
        return (int) ((hash << 1) >>> (Long.SIZE - SEGMENT_BITS)) >>> shift;
    }

    /** Where those are that found no place; their hash is {@link #OVERFLOW}. */
    Segment overflow() {
        return overflow;
    }

    /**
     * Makes the key, unless it is there; false when there is no place, and it has to share the overflow's budget.
     *
     * @param kept the hashes of keys that are not removed for this one
     */
    boolean add(long hash, Limit limit, LongPredicate kept) {
        Segment segment = segment(hash);
        Segment.Added added = segment.add(hash, limit);
        while (added == Segment.Added.FULL && evictOne(hash, kept)) {
            added = segment.add(hash, limit);
        }
        if (added == Segment.Added.NEW || added == Segment.Added.KNOWN || segment.find(hash) != null) {
            return true;
        }
        overflow.add(OVERFLOW, limit);
        return false;
    }

    /** Charges one key of one limit if that admits it. Allocates nothing for a key that is known. */
    boolean tryCharge(String key, Limit limit, long permits) {
        long hash = KeyHash.of(key);
        Segment segment = segment(hash);
        while (true) {
            Table table = segment.table();
            int slot = table.find(hash);
            while (slot == Table.NONE && table.next != null) {
                table = table.next;
                slot = table.find(hash);
            }
            if (slot == Table.NONE) {
                if (permits > limit.capacity()) {
                    return false;
                }
                if (!add(hash, limit, none -> false)) {
                    hash = OVERFLOW;
                    segment = overflow;
                }
                continue;
            }
            Table.Outcome outcome = limit.stateSize() == 1
                    ? table.tryChargeWord(slot, hash, limit, permits, clock)
                    : table.tryChargeLongs(slot, hash, limit, permits, clock);
            if (outcome == Table.Outcome.ADMITTED || outcome == Table.Outcome.REFUSED) {
                return outcome == Table.Outcome.ADMITTED;
            }
            if (outcome == Table.Outcome.OTHER_LIMIT) {
                segment.change(hash, limit);
            }
        }
    }

    /** A key that was full again has been removed. */
    void evictedFull() {
        size.decrementAndGet();
        evictedFull.increment();
    }

    /** A key to which something was charged has been removed. */
    void evictedActive() {
        size.decrementAndGet();
        evictedActive.increment();
    }

    /** Forgets every key that is full again. */
    void sweep() {
        for (int i = 0; i < segments.length(); i++) {
            Segment segment = segments.getAcquire(i);
            if (segment != null) {
                segment.sweep();
            }
        }
    }

    /** Takes a place for a key, if there are not as many keys yet as may be. */
    boolean takePlace() {
        int taken = size.get();
        while (taken < maxKeys && !size.compareAndSet(taken, taken + 1)) {
            taken = size.get();
        }
        return taken < maxKeys;
    }

    /** Leaves a place in which no key was made. */
    void leavePlace() {
        size.decrementAndGet();
    }

    /** Makes a place, looking at a few keys only; false when all of them are exhausted. */
    private boolean evictOne(long hash, LongPredicate kept) {
        int first = number(hash);
        int seen = 0;
        for (int i = 0; i < segments.length() && seen < SAMPLE; i++) {
            int looked = segment((first + i) & (segments.length() - 1)).evict(hash, SAMPLE - seen, kept);
            if (looked < 0) {
                return true;
            }
            seen += looked;
        }
        return size.get() < maxKeys;
    }
}
