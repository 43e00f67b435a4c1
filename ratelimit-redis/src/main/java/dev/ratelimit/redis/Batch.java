package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The charges of a decision whose keys share a slot, and thus a server: one script decides them. Not thread-safe. */
final class Batch {

    /** A limit of a charge, and the name of its key. */
    record Entry(Charge charge, RedisLimit limit, String key) {}

    private final int slot;
    private final long id;
    private final List<Entry> entries = new ArrayList<>(4);
    private final List<Charge> charges = new ArrayList<>(4);

    /**
     * Creates a batch for this slot.
     *
     * @param id identifies the permits that it charges or gives back, of limits that identify permits; below 2^52
     */
    Batch(int slot, long id) {
        this.slot = slot;
        this.id = id;
    }

    /** Adds a charge; its limits' keys are the name followed by their ranks. */
    void add(Charge charge, List<RedisLimit> limits, String name) {
        charges.add(charge);
        for (int i = 0; i < limits.size(); i++) {
            entries.add(new Entry(charge, limits.get(i), name + charge.policy().rank(i)));
        }
    }

    int slot() {
        return slot;
    }

    long id() {
        return id;
    }

    List<Charge> charges() {
        return charges;
    }

    List<Entry> entries() {
        return entries;
    }

    /** How many numbers the reply to a charge or peek holds. */
    int numbers() {
        int numbers = 0;
        for (Entry entry : entries) {
            numbers += entry.limit.numbers();
        }
        return numbers;
    }

    /** The statuses of each charge's limits, in the order of {@link #charges}, from the reply to a charge or peek. */
    List<List<LimitStatus>> statuses(Reply reply) {
        List<List<LimitStatus>> statuses = new ArrayList<>(charges.size());
        Iterator<Entry> next = entries.iterator();
        int at = 0;
        for (Charge charge : charges) {
            int limits = charge.policy().limits().size();
            List<LimitStatus> its = new ArrayList<>(limits);
            for (int i = 0; i < limits; i++) {
                RedisLimit limit = next.next().limit;
                its.add(limit.status(charge, reply.admitted(), reply.numbers(), at, reply.nowMicros()));
                at += limit.numbers();
            }
            statuses.add(its);
        }
        return statuses;
    }
}
