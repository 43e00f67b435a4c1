package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Budgets of one permit, and a clock that stands still. The kind of limit is drawn anew for each state, because jcstress
 * finds actors only in the class of a test itself, so that each kind would need a copy of it.
 */
class Budgets implements Ticker {

    /** What a limit keeps for a key. */
    enum Kind {
        WORD(TokenBucket.of(Rate.parse("1/hour"))),
        LONGS(FixedWindow.of(Rate.parse("1/hour"))),
        GROWING(SlidingLog.of(Rate.parse("1/hour")));

        final LimitAlgorithm limit;

        Kind(LimitAlgorithm limit) {
            this.limit = limit;
        }
    }

    private static final Kind[] KINDS = Kind.values();

    /** As many keys as fit into the first table, which has eight slots. */
    static final int FIRST_TABLE = 5;

    private final StoreClock clock = new StoreClock(this);
    private final Kind kind;
    private final Policy policy;

    private final StackTransaction chain;

    private final HotSlots hotSlots = new HotSlots();

    final Keyspace keys;

    Budgets(int maxKeys) {
        this(maxKeys, KINDS);
    }

    Budgets(int maxKeys, Kind... kinds) {
        this.kind = kinds[ThreadLocalRandom.current().nextInt(kinds.length)];
        this.policy = Policy.of("p", kind.limit);
        this.keys = new Keyspace(maxKeys, clock);
        this.chain = new StackTransaction(clock, any -> List.of(keys), hotSlots);
    }

    /** Takes the only permit. */
    boolean take(String key) {
        return take(key, kind);
    }

    /** Takes the only permit under the limit of this kind. */
    boolean take(String key, Kind by) {
        Outcome outcome = keys.tryCharge(key, by.limit, 1);
        return outcome == Outcome.OTHER_LIMIT
                ? takeLocked(List.of(Policy.of("p", by.limit).charge(key)))
                : outcome == Outcome.ADMITTED;
    }

    /** Adds a key that has its permit, and remembers its slot. */
    void remember(String key) {
        prepare(key);
        hotSlots.offer(policy, key, keys);
    }

    /** Takes the only permit from the remembered slot, if it is still the key's. */
    boolean takeHot(String key) {
        HotSlot slot = hotSlots.find(policy, key);
        Outcome outcome = slot == null ? Outcome.GONE : slot.tryCharge(1, clock);
        return outcome == Outcome.GONE ? take(key) : outcome == Outcome.ADMITTED;
    }

    /** Takes the only permit of both keys, or none. */
    boolean takeBoth(String key, String other) {
        List<Charge> both = List.of(policy.charge(key), policy.charge(other));
        Outcome outcome = chain.tryCharge(both);
        return outcome == Outcome.UNDECIDED ? takeLocked(both) : outcome == Outcome.ADMITTED;
    }

    private boolean takeLocked(List<Charge> charges) {
        Transaction transaction = new Transaction(clock);
        for (Charge charge : charges) {
            transaction.add(charge, List.of(keys));
        }
        return transaction.tryCharge();
    }

    /** Adds a key that has its permit. */
    void prepare(String key) {
        keys.add(KeyHash.of(key), kind.limit, none -> false);
    }

    /** Adds this number of exhausted keys. */
    void exhaust(int exhausted) {
        for (int i = 0; i < exhausted; i++) {
            take("exhausted" + i);
        }
    }

    /** The last part of a result: the kind of limit, alone if nothing is left that should not be. */
    String left(boolean tooMuch) {
        return tooMuch ? kind + " and too much is left" : kind.name();
    }

    @Override
    public long nanos() {
        return 0;
    }

    @Override
    public long epochNanos() {
        return 0;
    }
}
