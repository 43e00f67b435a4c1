package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
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
 * <p>If there are {@code maxKeys}, a new key replaces a full one, or else the one closest to full in a sample, but
 * never an exhausted one: flooding the table does not grant fresh budgets. Keys that find no room share a budget in the
 * overflow, one for each limit.
 */
final class Keyspace {

    /**
     * This many bits of a hash, after the highest, select the segment; the first of them if there are fewer segments.
     */
    static final int SEGMENT_BITS = 14;

    /** Distributes the hash codes of limits over the bits of a key's hash. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    /** The load factor of a full table, and the standard deviations by which a segment may exceed it. */
    private static final double LOAD = 0.65;

    private static final double DEVIATIONS = 5;

    /** The maximum number of budgets in the overflow, as a power of two. */
    private static final int OVERFLOW_BITS = 16;

    /** Few enough to keep the arrays below half a MB; some collectors round larger ones up to whole regions. */
    private static final int KEYS_A_SEGMENT = 1 << 13;

    private static final AtomicLong SERIALS = new AtomicLong();

    /** Defines the order for locking keys of several keyspaces. */
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
    private volatile boolean abandoned;

    Keyspace(int maxKeys, StoreClock clock) {
        this.maxKeys = maxKeys;
        this.clock = clock;
        int bits = Math.min(SEGMENT_BITS, 32 - Integer.numberOfLeadingZeros(maxKeys / KEYS_A_SEGMENT));
        this.shift = SEGMENT_BITS - bits;
        this.segments = new AtomicReferenceArray<>(1 << bits);
        double share = (double) maxKeys / segments.length();
        double max = bits == 0 ? share : share + DEVIATIONS * Math.sqrt(share);
        this.slotsASegment = (long) Math.ceil(max / LOAD);
        this.overflow = new Segment(this, clock, (long) Math.ceil((1 << OVERFLOW_BITS) / LOAD), false);
    }

    /** The number of keys. */
    int size() {
        return size.get();
    }

    long evictedFullCount() {
        return evictedFull.sum();
    }

    long evictedActiveCount() {
        return evictedActive.sum();
    }

    /** The maximum memory of tables with states of this limit, except growing states; including one overflow budget. */
    long maxBytes(LimitAlgorithm limit) {
        long slots = segments.length() * Math.max(Segment.MIN_SLOTS, slotsASegment) + Segment.MIN_SLOTS;
        return slots * Table.bytesASlot(limit);
    }

    /** The memory of the tables, except growing states. */
    long bytes() {
        long bytes = overflow.bytes();
        for (int i = 0; i < segments.length(); i++) {
            Segment segment = segments.getAcquire(i);
            bytes += segment == null ? 0 : segment.bytes();
        }
        return bytes;
    }

    /** The segment of the key. */
    Segment segment(long hash) {
        return segment(number(hash));
    }

    private Segment segment(int number) {
        Segment segment = segments.getAcquire(number);
        if (segment == null) {
            segments.compareAndSet(number, null, new Segment(this, clock, slotsASegment, true));
            segment = segments.getAcquire(number);
        }
        return Objects.requireNonNull(segment);
    }

    private int number(long hash) {
        return (int) ((hash << 1) >>> (Long.SIZE - SEGMENT_BITS)) >>> shift;
    }

    /** The segment of the budgets that keys without room share: one for each limit. */
    Segment overflow() {
        return overflow;
    }

    /**
     * The hash of a limit's budget in the overflow, as if it were a key. There are so few of them that they always find
     * room, however many limits a program creates; limits with the same hash share a budget, as if each replaced the
     * other.
     */
    static long overflowOf(LimitAlgorithm limit) {
        long budget = (limit.hashCode() * SPREAD) >>> (Long.SIZE - OVERFLOW_BITS);
        // where Table.first finds it: after the bits that select the segment
        return Long.MIN_VALUE | budget << (Long.SIZE - 1 - SEGMENT_BITS - OVERFLOW_BITS);
    }

    /**
     * Adds the key, unless it exists; false if there is no room, so that it must share its limit's budget in the
     * overflow.
     *
     * @param kept the hashes of keys that must not be evicted to make room
     */
    boolean add(long hash, LimitAlgorithm limit, LongPredicate kept) {
        Segment segment = segment(hash);
        Segment.Added added = segment.add(hash, limit, kept);
        while (added == Segment.Added.FULL && evictOne(hash, kept)) {
            added = segment.add(hash, limit, kept);
        }
        if (added == Segment.Added.NEW || added == Segment.Added.KNOWN || segment.find(hash) != null) {
            return true;
        }
        addOverflow(limit);
        return false;
    }

    /** Adds a limit's budget to the overflow, unless it exists. */
    void addOverflow(LimitAlgorithm limit) {
        overflow.add(overflowOf(limit), limit, none -> false);
    }

    /**
     * Charges one key of one limit if that admits; leaves it to a {@link Transaction} if the key has another limit.
     * Does not allocate for a known key.
     */
    Outcome tryCharge(String key, LimitAlgorithm limit, long permits) {
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
                    return Outcome.REFUSED;
                }
                if (segment == overflow) {
                    addOverflow(limit);
                } else if (!add(hash, limit, none -> false)) {
                    hash = overflowOf(limit);
                    segment = overflow;
                }
                continue;
            }
            Outcome outcome = limit.stateSize() == 1
                    ? table.tryCharge(slot, hash, limit, permits, clock)
                    : table.tryChargeLocked(slot, hash, limit, permits, clock);
            if (outcome != Outcome.GONE) {
                return outcome;
            }
        }
    }

    /** Counts the eviction of a full key. */
    void evictedFull() {
        evictedFull.increment();
        size.decrementAndGet();
    }

    /** Counts the eviction of a key with charges. */
    void evictedActive() {
        evictedActive.increment();
        size.decrementAndGet();
    }

    /** Removes every full key. */
    void sweep() {
        for (int i = 0; i < segments.length(); i++) {
            Segment segment = segments.getAcquire(i);
            if (segment != null) {
                segment.sweep();
            }
        }
        overflow.sweep();
    }

    /** The store forgets its keys from now on. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    /** Reserves room for a key, if there are fewer than the maximum. */
    boolean reservePlace() {
        int taken = size.get();
        while (taken < maxKeys && !size.compareAndSet(taken, taken + 1)) {
            taken = size.get();
        }
        return taken < maxKeys;
    }

    /** Releases unused room. */
    void releasePlace() {
        size.decrementAndGet();
    }

    /** Makes room by looking at a few keys; false if all of them are exhausted. */
    private boolean evictOne(long hash, LongPredicate kept) {
        int first = number(hash);
        Sample sample = new Sample(hash, kept);
        for (int i = 0; i < segments.length() && sample.goesOn(); i++) {
            if (segment((first + i) & (segments.length() - 1)).evict(sample)) {
                return true;
            }
        }
        return hasRoom();
    }

    /** Whether there are fewer keys than the maximum. */
    boolean hasRoom() {
        return size.get() < maxKeys;
    }
}
