package dev.ratelimit.jdbc;

import dev.ratelimit.LimitAlgorithm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the table knows of one policy and key, during a transaction.
 *
 * <p>Limits count on the row's own time, which never goes back: the time of the database, plus all by which that was set back
 * since the row was new. Those on wall time know how to deal with that, and count on the time of the database.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
final class Row {

    /** A state, and the limit that wrote it. */
    record Kept(LimitAlgorithm limit, long[] state) {}

    /**
     * Permits that are held.
     *
     * @param id of their charge
     * @param nanos since when, on the row's time
     */
    record Held(long id, long nanos, long permits) {}

    private final byte[] id;
    private final List<@Nullable Kept> kept = new ArrayList<>(1);
    private final List<Held> held = new ArrayList<>(0);

    /** What is in the table, if it is still true. */
    private @Nullable String text;

    private boolean stored;
    private boolean changed;
    private boolean insisted;
    private long idleMicros;
    private long writtenMicros;
    private long aheadNanos;
    private long nowMicros;

    /** Creates a row that is not in the table. */
    Row(byte[] id) {
        this.id = id;
    }

    /**
     * What has been kept and held so far is what the table has.
     *
     * @param limits the text of the limits
     * @param idleAt since when it is as good as none
     * @param writtenAt when it was written
     * @param ahead by how much its time is ahead of the database's
     */
    void loaded(String limits, long idleAt, long writtenAt, long ahead) {
        stored = true;
        changed = false;
        text = limits;
        idleMicros = idleAt;
        writtenMicros = writtenAt;
        aheadNanos = ahead;
    }

    /** The digest of policy and key. Callers must not modify the array. */
    byte[] id() {
        return id;
    }

    /** Whether it is in the table. */
    boolean stored() {
        return stored;
    }

    /** Whether there is something to write. */
    boolean changed() {
        return changed && (stored || insisted || !kept.isEmpty());
    }

    /** It is to be written even if it is empty, so that the transaction waits for one that is adding it. */
    void insist() {
        insisted = true;
        changed = true;
    }

    /** When it was written, by the database's clock. */
    long writtenMicros() {
        return writtenMicros;
    }

    long aheadNanos() {
        return aheadNanos;
    }

    /** From now on, it is this time, by the database's clock. Remembers that the clock was set back. */
    void begin(long micros) {
        nowMicros = micros;
        if (stored && idleMicros <= micros) {
            clear();
            changed = false;
        } else if (stored && writtenMicros > micros) {
            aheadNanos += 1000 * (writtenMicros - micros);
            changed = true;
        }
        for (Kept one : kept) {
            if (one != null && one.limit.wallClock()) {
                long[] before = one.state.clone();
                one.limit.admits(one.state, 0, 0, now(one.limit));
                changed |= !Arrays.equals(before, one.state);
            }
        }
    }

    /** The time, as this limit counts it. */
    long now(LimitAlgorithm limit) {
        return then(limit, nowMicros);
    }

    /** A time of the database, as this limit counts it. */
    long then(LimitAlgorithm limit, long micros) {
        return 1000 * micros + (limit.wallClock() ? 0 : aheadNanos);
    }

    /** What is kept for the limit of this rank. */
    @Nullable
    Kept kept(int rank) {
        return rank < kept.size() ? kept.get(rank) : null;
    }

    /** What is kept, by rank. */
    List<Kept> kept() {
        return kept.stream().map(Objects::requireNonNull).toList();
    }

    void keep(int rank, LimitAlgorithm limit, long[] state) {
        while (kept.size() <= rank) {
            kept.add(null);
        }
        Kept before = kept.set(rank, new Kept(limit, state));
        text = before != null && before.limit.equals(limit) ? text : null;
        changed = true;
    }

    /** Its state was changed. */
    void touch() {
        changed = true;
    }

    void hold(Held permits) {
        held.add(permits);
    }

    List<Held> held() {
        return held;
    }

    /** The permits of this charge that are still held. */
    @Nullable
    Held heldBy(long charge) {
        return held.stream().filter(one -> one.id == charge).findFirst().orElse(null);
    }

    /** Of these permits, so many are no longer held. */
    void release(Held permits, long count) {
        held.remove(permits);
        if (count < permits.permits) {
            held.add(new Held(permits.id, permits.nanos, permits.permits - count));
        }
    }

    /** From now on, the key has a full budget. */
    void clear() {
        kept.clear();
        held.clear();
        text = null;
        aheadNanos = 0;
        changed = true;
    }

    /** Drops what is full, or no longer held. */
    void tidy() {
        while (!kept.isEmpty() && fullAfterNanos(kept.size() - 1) == 0) {
            kept.remove(kept.size() - 1);
            text = null;
        }
        held.removeIf(permits -> kept.stream().noneMatch(one -> holds(one, permits)));
    }

    private boolean holds(@Nullable Kept one, Held permits) {
        return one != null && one.limit.concurrency() && now(one.limit) - permits.nanos < one.limit.replenishNanos();
    }

    /** The time until all limits are full. */
    long fullAfterNanos() {
        long longest = 0;
        for (int rank = 0; rank < kept.size(); rank++) {
            longest = Math.max(longest, fullAfterNanos(rank));
        }
        return longest;
    }

    private long fullAfterNanos(int rank) {
        Kept one = kept.get(rank);
        return one == null ? 0 : one.limit.fullAfterNanos(one.state, 0, now(one.limit));
    }

    /** The text of its limits in the table, {@code null} if they are others now. */
    @Nullable
    String text() {
        return text;
    }
}
