package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All the limits that some charges meet, locked together: what is decided over them happens at one moment.
 *
 * <p>Entries are locked in the order of their serials, so that two transactions never wait for each other; the newest
 * first, so that what everybody meets, such as a global budget, is held for the shortest time. One thread makes it, uses
 * it and unlocks it.
 */
final class Transaction {

    /** A state, locked; without an entry the key is full, and the state a cleared one that nobody else sees. */
    private static final class Slot {
        final @Nullable Entry entry;
        long[] state;

        Slot(@Nullable Entry entry, long[] state) {
            this.entry = entry;
            this.state = state;
        }
    }

    /** What is asked of one limit. */
    private static final class Claim {
        final Charge charge;
        final Limit limit;
        final Keyspace keyspace;

        @Nullable
        Entry entry;

        Slot slot = new Slot(null, new long[0]);
        long now;

        Claim(Charge charge, Limit limit, Keyspace keyspace) {
            this.charge = charge;
            this.limit = limit;
            this.keyspace = keyspace;
        }

        long serial() {
            return entry == null ? -1 : entry.serial;
        }

        boolean lacksEntry() {
            return entry == null && charge.permits() > 0;
        }
    }

    private final StoreClock clock;
    private final List<Claim> claims = new ArrayList<>(4);
    private final List<Slot> locked = new ArrayList<>(4);
    private long nanos;

    Transaction(StoreClock clock) {
        this.clock = clock;
    }

    void add(Charge charge, List<Keyspace> keyspaces) {
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            claims.add(new Claim(charge, limits.get(i), keyspaces.get(i)));
        }
    }

    /** Finds the entries there are, moves them to the limits asked for, locks them, and only then reads the clock. */
    void lock() {
        lock(claim -> claim.keyspace.find(claim.charge.key(), claim.limit));
    }

    private void lock(Function<Claim, @Nullable Entry> find) {
        do {
            for (Claim claim : claims) {
                if (claim.entry == null || claim.entry.dead()) {
                    claim.entry = find.apply(claim);
                }
            }
        } while (!tryLock());
        nanos = clock.nanos();
        for (Claim claim : claims) {
            claim.now = claim.limit.wallClock() ? clock.now(claim.limit) : nanos;
            if (claim.entry == null) {
                claim.slot = new Slot(null, Entry.absent(claim.limit, claim.now));
            }
        }
    }

    private boolean tryLock() {
        List<Claim> order = new ArrayList<>(claims);
        order.sort(Comparator.comparingLong(Claim::serial).reversed());
        for (Claim claim : order) {
            if (claim.entry == null) {
                continue;
            }
            Slot last = locked.isEmpty() ? null : locked.get(locked.size() - 1);
            if (last == null || last.entry != claim.entry) {
                long[] state = claim.entry.lock();
                if (state == null) {
                    unlock();
                    return false;
                }
                last = new Slot(claim.entry, state);
                locked.add(last);
            }
            claim.slot = last;
        }
        if (anyAppeared()) {
            unlock();
            return false;
        }
        return true;
    }

    /** Whether a key without an entry got one before the others were locked: it would be seen as of another moment. */
    private boolean anyAppeared() {
        for (Claim claim : claims) {
            if (claim.entry == null && claim.keyspace.find(claim.charge.key()) != null) {
                return true;
            }
        }
        return false;
    }

    void unlock() {
        for (Slot slot : locked) {
            if (slot.entry != null) {
                slot.entry.unlock(slot.state);
            }
        }
        locked.clear();
    }

    boolean admitted() {
        for (Claim claim : claims) {
            if (!claim.limit.admits(claim.slot.state, 0, asked(claim), claim.now)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a key that is to be charged has no entry yet. */
    boolean lacksEntries() {
        return claims.stream().anyMatch(Claim::lacksEntry);
    }

    /** Makes the entries that are lacking, while nothing is locked. */
    void createEntries() {
        for (Claim claim : claims) {
            if (claim.lacksEntry()) {
                claim.entry = claim.keyspace.findOrCreate(claim.charge.key(), claim.limit);
            }
        }
    }

    void charge() {
        for (Claim claim : claims) {
            Slot slot = claim.slot;
            long permits = claim.charge.permits();
            if (permits > 0) {
                slot.state = claim.limit.grow(slot.state, permits, claim.now);
                claim.limit.charge(slot.state, 0, permits, claim.now);
            }
        }
    }

    /**
     * Gives back what was charged at that time, measured like {@link StoreClock#nanos}. Where the limit has been changed
     * since, it stays changed, and gets its proportion.
     */
    void refund(long chargedAt) {
        lock(claim -> claim.keyspace.find(claim.charge.key()));
        try {
            for (Claim claim : claims) {
                if (claim.entry != null) {
                    refund(claim, claim.entry.limit, nanos - chargedAt);
                }
            }
        } finally {
            unlock();
        }
    }

    private void refund(Claim claim, Limit limit, long ageNanos) {
        long capacity = claim.limit.capacity();
        long kept = limit.share(capacity - claim.charge.permits(), capacity);
        limit.refund(claim.slot.state, 0, limit.capacity() - kept, ageNanos, clock.now(limit));
    }

    /** How each limit stands, for what is still to be charged: nothing, once it has been admitted. */
    Decision decision(boolean admitted) {
        List<LimitStatus> statuses = new ArrayList<>(claims.size());
        for (Claim claim : claims) {
            long[] state = claim.slot.state;
            long wait = admitted ? 0 : claim.limit.retryAfterNanos(state, 0, asked(claim), claim.now);
            statuses.add(new LimitStatus(
                    claim.charge.policy(),
                    claim.limit,
                    claim.limit.remaining(state, 0, claim.now),
                    wait,
                    claim.limit.nextAvailableNanos(state, 0, claim.now),
                    claim.limit.fullAfterNanos(state, 0, claim.now)));
        }
        return new Decision(admitted, statuses, nanos);
    }

    /** Two keys that found no place share one entry, which has to bear both. */
    private long asked(Claim claim) {
        long asked = claim.charge.permits();
        for (Claim other : claims) {
            if (other != claim && other.entry != null && other.entry == claim.entry) {
                asked += other.charge.permits();
            }
        }
        return asked < 0 ? Long.MAX_VALUE : asked;
    }
}
