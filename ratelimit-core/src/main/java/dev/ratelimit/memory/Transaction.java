package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * All the limits that some charges meet, locked together: what is decided over them happens at one moment.
 *
 * <p>Slots are locked in one order, so that two transactions never wait for each other: those of the keyspace that was
 * made last come first, so that what everybody meets, such as a global budget, is held for the shortest time. Used by one
 * thread at a time, and by another after {@link #clear}.
 */
final class Transaction {

    private final StoreClock clock;

    /** In the order of the charges; those from {@link #count} on are to be used again. */
    private Claim[] claims = {};

    /** The same in the order of locking. */
    private Claim[] order = {};

    /** Keys that have to be there together, so that none may be pushed out for another. */
    private final LongPredicate own = this::isOwn;

    private int count;
    private int locked;
    private long nanos;

    Transaction(StoreClock clock) {
        this.clock = clock;
    }

    /** Forgets what it was about; also the tables, of which each leads to all that came after it. */
    void clear() {
        for (int i = 0; i < count; i++) {
            claims[i].clear();
        }
        count = 0;
    }

    void add(Charge charge, List<Keyspace> keyspaces) {
        List<Limit> limits = charge.policy().limits();
        long hash = KeyHash.of(charge.key());
        for (int i = 0; i < limits.size(); i++) {
            add(charge, limits.get(i), keyspaces.get(i), hash);
        }
    }

    private void add(Charge charge, Limit limit, Keyspace keyspace, long hash) {
        if (count == claims.length) {
            claims = Arrays.copyOf(claims, count + 1);
            order = Arrays.copyOf(order, count + 1);
            claims[count] = new Claim();
        }
        claims[count++].set(charge, limit, keyspace, hash);
    }

    /** Finds the keys there are, moves them to the limits asked for, locks them, and only then reads the clock. */
    void lock() {
        lock(true);
    }

    private void lock(boolean underTheseLimits) {
        do {
            for (int i = 0; i < count; i++) {
                claims[i].locate(underTheseLimits);
                enqueue(claims[i], i);
            }
        } while (!tryLock(underTheseLimits));
        nanos = clock.nanos();
        for (int i = 0; i < count; i++) {
            claims[i].at(clock, nanos);
        }
    }

    private void enqueue(Claim claim, int queued) {
        int at = queued;
        while (at > 0 && claim.before(order[at - 1])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = claim;
    }

    private boolean tryLock(boolean underTheseLimits) {
        for (locked = 0; locked < count; locked++) {
            Claim claim = order[locked];
            boolean again = locked > 0 && claim.sameSlot(order[locked - 1]);
            if (!again && !claim.lock(underTheseLimits)) {
                unlock();
                return false;
            }
        }
        for (int i = 0; i < count; i++) {
            if (claims[i].appeared()) {
                unlock();
                return false;
            }
        }
        return true;
    }

    void unlock() {
        for (int i = locked - 1; i >= 0; i--) {
            if (i == 0 || !order[i].sameSlot(order[i - 1])) {
                order[i].unlock();
            }
        }
        locked = 0;
    }

    boolean admitted() {
        for (int i = 0; i < count; i++) {
            if (!claims[i].admits(asked(claims[i]))) {
                return false;
            }
        }
        return true;
    }

    /** Makes the keys that are to be charged and not known yet, while nothing is locked. */
    void addKeys() {
        for (int i = 0; i < count; i++) {
            if (claims[i].lacksKey()) {
                claims[i].addKey(own);
                for (int j = 0; j < i; j++) {
                    claims[i].agree(claims[j]);
                }
            }
        }
    }

    private boolean isOwn(long hash) {
        for (int i = 0; i < count; i++) {
            if (claims[i].isOf(hash)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a key that is to be charged is not known yet. */
    boolean lacksKeys() {
        for (int i = 0; i < count; i++) {
            if (claims[i].lacksKey()) {
                return true;
            }
        }
        return false;
    }

    void charge() {
        for (int i = 0; i < count; i++) {
            claims[i].charge();
        }
    }

    /**
     * Gives back what was charged at that time, measured like {@link StoreClock#nanos}. Where a limit has been changed
     * since, it stays changed, and gets its proportion.
     */
    void refund(long chargedAt) {
        try {
            lock(false);
            for (int i = 0; i < count; i++) {
                claims[i].refund(clock, nanos - chargedAt);
            }
        } finally {
            unlock();
        }
    }

    /** Forgets what the keys have used. */
    void reset() {
        try {
            lock(false);
            for (int i = 0; i < count; i++) {
                claims[i].reset(clock);
            }
        } finally {
            unlock();
        }
    }

    /** How each limit stands, for what is still to be charged: nothing, once it has been admitted. */
    Decision decision(boolean admitted) {
        List<LimitStatus> statuses = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            statuses.add(claims[i].status(admitted, asked(claims[i])));
        }
        return new Decision(admitted, statuses, nanos);
    }

    /** Two keys that found no place share one budget, which has to bear both. */
    private long asked(Claim claim) {
        long asked = claim.charge.permits();
        for (int i = 0; i < count; i++) {
            if (claims[i] != claim && claims[i].sameSlot(claim)) {
                asked += claims[i].charge.permits();
            }
        }
        return asked < 0 ? Long.MAX_VALUE : asked;
    }
}
