package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a few budgets in frequent use, such as one that all requests share, or a busy user's: charging them
 * requires neither a hash of the key nor a look-up, alone or with others in one decision. Only for policies with a single
 * limit that {@linkplain #keeps can be kept}. Thread-safe.
 *
 * <p>The policy and some characters of the key select the place of a slot here. If another slot is there, one look-up in
 * {@value #REPLACING} replaces it, so that frequently used ones stay. Equal keys are compared in full, so callers who
 * choose their keys to meet in one place only slow each other down, by one hash and one look-up.
 */
final class HotSlots {

    /** A power of two. */
    private static final int PLACES = 64;

    /** How rarely a slot replaces another one, on average. */
    private static final int REPLACING = 1024;

    /** Longer keys are not kept, to bound the memory. */
    private static final int MAX_KEY_LENGTH = 128;

    private static final int SPREAD = 0x9E3779B9;

    /** A place is written with release and read with acquire, which publishes the record in it. */
    private volatile AtomicReferenceArray<@Nullable HotSlot> places = new AtomicReferenceArray<>(PLACES);

    /** The first slot since the last sweep, probably the busiest: it is found without even choosing a place. */
    private volatile @Nullable HotSlot first;

    /** Whether nothing is remembered any more. */
    private volatile boolean closed;

    /**
     * Whether slots of this limit can be kept: a refusal then writes nothing, or a frame remembers the state. A refusal
     * without a lock cannot remember that the wall clock was set back.
     */
    static boolean keeps(LimitAlgorithm limit) {
        boolean forgetful = limit.stateSize() == 1 && limit.wallClock();
        return StackTransaction.remembers(limit) && !forgetful;
    }

    /** The slot of the charged key; {@code null} if it is not known, or the store has forgotten it. */
    @Nullable
    HotSlot find(Charge charge) {
        Policy policy = charge.policy();
        boolean possible = charge.permits() > 0 && policy.limits().size() == 1;
        HotSlot found = possible ? find(policy, charge.key()) : null;
        return found == null || found.keys().isAbandoned() ? null : found;
    }

    /** The slot of this key; {@code null} if it is not known. */
    @SuppressWarnings("ReferenceEquality") // an equal policy is found below
    @Nullable
    HotSlot find(Policy policy, String key) {
        HotSlot busiest = first;
        if (busiest != null && busiest.policy() == policy && busiest.key().equals(key)) {
            return busiest;
        }
        int digest = digest(policy, key);
        HotSlot found = places.getAcquire(place(digest));
        return found != null && found.digest() == digest && found.key().equals(key) && found.isOf(policy)
                ? found
                : null;
    }

    /** Remembers the slot of a key if its place is free, and sometimes otherwise, if its policy has a limit to keep. */
    void offer(Policy policy, String key, Keyspace keys) {
        if (policy.limits().size() > 1) {
            return;
        }
        int digest = digest(policy, key);
        boolean free = places.getAcquire(place(digest)) == null;
        LimitAlgorithm limit = policy.algorithms().get(0);
        if (!(free || ThreadLocalRandom.current().nextInt(REPLACING) == 0)
                || closed
                || key.length() > MAX_KEY_LENGTH
                || !keeps(limit)) {
            return;
        }
        long hash = KeyHash.of(key);
        Table table = keys.segment(hash).table();
        int slot = table.find(hash);
        long header = slot == Table.NONE ? Table.NO_HEADER : table.unlockedHeader(slot, hash, limit);
        if (header != Table.NO_HEADER) {
            HotSlot found = new HotSlot(policy, key, digest, keys, limit, table, table.longs, slot, header);
            places.setRelease(place(digest), found);
            if (first == null) {
                first = found;
            }
        }
    }

    /** Forgets a slot that is no longer the key's. */
    @SuppressWarnings("ReferenceEquality") // another slot stays
    void forget(HotSlot slot) {
        places.compareAndSet(place(slot.digest()), slot, null);
        if (first == slot) {
            first = null;
        }
    }

    /** Forgets everything, so that keys that are no longer used are not kept. */
    void clear() {
        first = null;
        places = new AtomicReferenceArray<>(PLACES);
    }

    /** Forgets everything, for good. */
    void close() {
        closed = true;
        clear();
    }

    private static int place(int digest) {
        return (digest * SPREAD) >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
    }

    /** A cheap hash of the policy's name, which knows its own, and of a few characters. */
    private static int digest(Policy policy, String key) {
        int ofPolicy = policy.name().hashCode();
        int length = key.length();
        if (length == 0) {
            return ofPolicy;
        }
        int last = key.charAt(length - 1) | key.charAt(length >>> 1) << 8 | key.charAt(Math.max(0, length - 2)) << 16;
        return ofPolicy + last + (length << 24);
    }
}
