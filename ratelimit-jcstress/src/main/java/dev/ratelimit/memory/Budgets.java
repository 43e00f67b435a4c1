package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.List;

/** Budgets of one permit, and time that stands still. */
class Budgets implements Ticker {

    static final Limit WORD = TokenBucket.of(Rate.parse("1/hour"));
    static final Limit LONGS = FixedWindow.of(Rate.parse("1/hour"));
    static final Limit GROWING = SlidingLog.of(Rate.parse("1/hour"));

    /** As many keys as fit into the first table, of eight slots. */
    static final int FIRST_TABLE = 5;

    private final StoreClock clock = new StoreClock(this);
    private final Limit limit;
    private final Policy policy;

    private final Chain chain;

    final Keyspace keys;

    Budgets(Limit limit, int maxKeys) {
        this.limit = limit;
        this.policy = Policy.of("p", limit);
        this.keys = new Keyspace(maxKeys, clock);
        this.chain = new Chain(clock, any -> List.of(keys));
    }

    /** Takes the one permit. */
    boolean take(String key) {
        return keys.tryCharge(key, limit, 1);
    }

    /** Takes the one permit of both keys, or none. */
    boolean takeBoth(String key, String other) {
        List<Charge> both = List.of(policy.charge(key), policy.charge(other));
        Table.Outcome outcome = chain.tryCharge(both);
        return outcome == Table.Outcome.DISTURBED ? takeLocked(both) : outcome == Table.Outcome.ADMITTED;
    }

    private boolean takeLocked(List<Charge> charges) {
        Transaction transaction = new Transaction(clock);
        for (Charge charge : charges) {
            transaction.add(charge, List.of(keys));
        }
        try {
            while (true) {
                transaction.lock();
                if (!transaction.admitted()) {
                    return false;
                }
                if (!transaction.lacksKeys()) {
                    transaction.charge();
                    return true;
                }
                transaction.unlock();
                transaction.addKeys();
            }
        } finally {
            transaction.unlock();
        }
    }

    /** Makes a key that has its permit. */
    void prepare(String key) {
        keys.add(KeyHash.of(key), limit, none -> false);
    }

    /** Makes so many keys that have no permit left. */
    void exhaust(int exhausted) {
        for (int i = 0; i < exhausted; i++) {
            take("exhausted" + i);
        }
    }

    @Override
    public long nanos() {
        return 0;
    }

    @Override
    public long epochNanos() {
        return 0;
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
        throw new UnsupportedOperationException("nothing is swept but by a test");
    }
}
