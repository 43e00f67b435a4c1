package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.memory.Table.Outcome;
import java.util.List;
import java.util.function.Function;

/**
 * Yes or no to several charges of known keys, without an object: the stack remembers what is locked.
 *
 * <p>One limit after the other is locked and asked, from the last to the first; once all have admitted, they are charged
 * and unlocked on the way back. So a budget that everybody meets, which is usually named first, is locked for a few
 * instructions.
 *
 * <p>Two threads never wait for each other. A thread waits for a lock while it holds others only if its keyspace was made
 * before those of all that it holds, like a {@link Transaction}; elsewhere it only tries. What does not work out that way
 * is left to a transaction, with nothing charged: a lock that another thread has, a key that is not known or on its way to
 * another table, a limit that was changed, two charges to one budget. Thread-safe.
 */
final class Chain {

    private static final long NONE_HELD = Long.MAX_VALUE;

    private final StoreClock clock;
    private final Function<Policy, List<Keyspace>> keyspaces;

    Chain(StoreClock clock, Function<Policy, List<Keyspace>> keyspaces) {
        this.clock = clock;
        this.keyspaces = keyspaces;
    }

    /** Charges all or nothing; {@link Outcome#DISTURBED} when a transaction has to decide. */
    Outcome tryCharge(List<Charge> charges) {
        return tryBefore(charges, charges.size(), 0, NONE_HELD, 0);
    }

    /** Charges the limits before this one: those of its charge, and of the charges before. */
    private Outcome tryBefore(List<Charge> charges, int at, int number, long held, long nanos) {
        if (number > 0) {
            return tryLimit(charges, at, number - 1, held, nanos);
        }
        if (at == 0) {
            return Outcome.ADMITTED;
        }
        int limits = charges.get(at - 1).policy().limits().size();
        return tryLimit(charges, at - 1, limits - 1, held, nanos);
    }

    /**
     * Charges this limit and those before it.
     *
     * @param held the least serial of the keyspaces of which a key is locked
     * @param nanos the time, if a key is locked
     */
    private Outcome tryLimit(List<Charge> charges, int at, int number, long held, long nanos) {
        Charge charge = charges.get(at);
        Keyspace keys = keyspaces.apply(charge.policy()).get(number);
        long hash = KeyHash.of(charge.key());
        Table table = keys.segment(hash).table();
        int slot = table.find(hash);
        if (slot == Table.NONE || charge.permits() == 0) {
            return Outcome.DISTURBED;
        }
        if (!(keys.serial < held ? table.lock(slot, hash) : table.tryLock(slot, hash))) {
            return Outcome.DISTURBED;
        }
        try {
            Limit limit = charge.policy().limits().get(number);
            if (!TableLimits.same(limit, table.limit(slot))) {
                return Outcome.DISTURBED;
            }
            long read = held == NONE_HELD ? clock.nanos() : nanos;
            long now = limit.wallClock() ? clock.now(limit) : read;
            if (!table.admits(slot, limit, charge.permits(), now)) {
                // the time was read after the first state; any other may know of a later one
                boolean exact = held == NONE_HELD || !table.admits(slot, limit, charge.permits(), clock.now(limit));
                return exact ? Outcome.REFUSED : Outcome.DISTURBED;
            }
            Outcome others = tryBefore(charges, at, number, Math.min(held, keys.serial), read);
            if (others == Outcome.ADMITTED) {
                table.charge(slot, limit, charge.permits(), now);
            }
            return others;
        } finally {
            table.unlock(slot);
        }
    }
}
