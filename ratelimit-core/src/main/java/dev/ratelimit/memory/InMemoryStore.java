package dev.ratelimit.memory;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.Shortcuts.Shortcut;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps the state of keys on the heap of this JVM. Exact: whatever the number of threads, calls are admitted as if they
 * came one after another.
 *
 * <p>A limit whose state is one long is decided by one compare-and-set; others, and charges of several limits, take short
 * spin locks on the entries concerned. Nothing blocks for long, nothing is pinned. {@link #tryCharge} of a policy of one
 * limit allocates nothing for a key that is known, but what a {@code SlidingLog} grows by.
 *
 * <p>Bounded: each limit of each policy keeps at most so many keys. When there is no place for another, keys that are full
 * again are dropped, then of a sample the fullest; exhausted keys never. Keys that find no place share one budget. Keys
 * that are full again are also swept out every half minute, by the {@link Ticker}'s alarm, which rings only while there
 * are any.
 *
 * <p>Thread-safe. Two stores share nothing.
 */
public final class InMemoryStore implements RateLimitStore {

    /** The most keys of a limit, if nothing else is said. */
    public static final int DEFAULT_MAX_KEYS = 1_000_000;

    private static final long SWEEP_NANOS = Duration.ofSeconds(30).toNanos();

    private final Ticker ticker;
    private final StoreClock clock;
    private final int maxKeys;
    private final Map<String, Integer> maxKeysOf;
    private final ConcurrentHashMap<String, List<Keyspace>> keyspaces = new ConcurrentHashMap<>();
    private final Transactions transactions;
    private final Chain chain;
    private final Shortcuts shortcuts = new Shortcuts();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private volatile boolean closed;

    private InMemoryStore(Builder builder) {
        this.ticker = builder.ticker;
        this.clock = new StoreClock(ticker);
        this.chain = new Chain(clock, this::keyspaces);
        this.transactions = new Transactions(clock);
        this.maxKeys = builder.maxKeys;
        this.maxKeysOf = Map.copyOf(builder.maxKeysOf);
    }

    /** A store by the system's clocks, with {@link #DEFAULT_MAX_KEYS}. */
    public static InMemoryStore create() {
        return builder().build();
    }

    /** A store with other settings. */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public boolean tryCharge(Charge charge) {
        return tryCharge(charge.policy(), charge.key(), charge.permits());
    }

    @Override
    public boolean tryCharge(Policy policy, String key, long permits) {
        boolean shared = key.isEmpty() && permits > 0;
        Shortcut shortcut = shared ? shortcuts.find(policy) : null;
        if (shortcut != null) {
            Table.Outcome outcome = shortcut.tryCharge(permits, clock);
            if (outcome == Table.Outcome.ADMITTED || outcome == Table.Outcome.REFUSED) {
                return outcome == Table.Outcome.ADMITTED;
            }
            shortcuts.forget(policy);
        }
        if (policy.limits().size() > 1 || permits <= 0) {
            return tryCharge(List.of(policy.charge(key, permits)));
        }
        boolean charged = search(policy, key, permits);
        if (shared && policy.limits().get(0).stateSize() == 1) {
            shortcuts.remember(policy, keyspaces(policy).get(0).segment(KeyHash.OF_EMPTY));
        }
        return charged;
    }

    private boolean search(Policy policy, String key, long permits) {
        boolean charged =
                keyspaces(policy).get(0).tryCharge(key, policy.limits().get(0), permits);
        sweepLater();
        return charged;
    }

    @Override
    public boolean tryCharge(List<Charge> charges) {
        Table.Outcome outcome = chain.tryCharge(charges);
        if (outcome == Table.Outcome.ADMITTED || outcome == Table.Outcome.REFUSED) {
            return outcome == Table.Outcome.ADMITTED;
        }
        Transaction transaction = transaction(charges);
        try {
            return decided(transaction, true);
        } finally {
            transaction.unlock();
            transactions.giveBack(transaction);
        }
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return answer(charges, true);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return answer(charges, false);
    }

    private Decision answer(List<Charge> charges, boolean take) {
        Transaction transaction = transaction(charges);
        try {
            return transaction.decision(decided(transaction, take));
        } finally {
            transaction.unlock();
            transactions.giveBack(transaction);
        }
    }

    /** Decides, and leaves everything locked. */
    private boolean decided(Transaction transaction, boolean take) {
        while (true) {
            transaction.lock();
            boolean admitted = transaction.admitted();
            if (!admitted || !take) {
                return admitted;
            }
            if (!transaction.lacksKeys()) {
                transaction.charge();
                return true;
            }
            transaction.unlock();
            transaction.addKeys();
            sweepLater();
        }
    }

    @Override
    public void refund(List<Charge> charges, Decision decision) {
        if (decision.admitted()) {
            Transaction transaction = transaction(charges);
            transaction.refund(decision.atNanos());
            transactions.giveBack(transaction);
        }
    }

    @Override
    public void reset(Policy policy, String key) {
        Transaction transaction = transaction(List.of(policy.charge(key)));
        transaction.reset();
        transactions.giveBack(transaction);
    }

    /** How many keys of the policy are remembered, over all its limits. */
    public long keys(String policy) {
        return known(policy).stream().mapToLong(Keyspace::size).sum();
    }

    /** How many keys of the policy were dropped when they were full again, which nobody can notice. */
    public long evictedFull(String policy) {
        return known(policy).stream().mapToLong(Keyspace::evictedFullCount).sum();
    }

    /** How many keys of the policy were dropped to make a place though something was charged to them. */
    public long evictedActive(String policy) {
        return known(policy).stream().mapToLong(Keyspace::evictedActiveCount).sum();
    }

    /**
     * The memory in bytes that the policy's tables take now; without the times that a {@code SlidingLog} remembers, 8 bytes
     * each.
     */
    public long bytes(String policy) {
        return known(policy).stream().mapToLong(Keyspace::bytes).sum();
    }

    /** What {@link #bytes} of the policy comes to when it has as many keys as it may. */
    public long mostBytes(Policy policy) {
        List<Keyspace> keyspaces = keyspaces(policy);
        long bytes = 0;
        for (int i = 0; i < policy.limits().size(); i++) {
            bytes += keyspaces.get(i).mostBytes(policy.limits().get(i));
        }
        return bytes;
    }

    /** Ends the sweeping. The store can still be used, and then keeps idle keys until it is full. */
    @Override
    public void close() {
        closed = true;
    }

    private Transaction transaction(List<Charge> charges) {
        Transaction transaction = transactions.take();
        List<Charge> distinct = Charge.addUp(charges);
        for (int i = 0; i < distinct.size(); i++) {
            Charge charge = distinct.get(i);
            transaction.add(charge, keyspaces(charge.policy()));
        }
        return transaction;
    }

    private List<Keyspace> known(String policy) {
        return keyspaces.getOrDefault(policy, List.of());
    }

    private List<Keyspace> keyspaces(Policy policy) {
        List<Keyspace> known = keyspaces.get(policy.name());
        return known != null && known.size() >= policy.limits().size() ? known : addKeyspaces(policy);
    }

    private List<Keyspace> addKeyspaces(Policy policy) {
        return keyspaces.merge(policy.name(), newKeyspaces(policy, 0), (known, ignored) -> {
            List<Keyspace> all = new ArrayList<>(known);
            all.addAll(newKeyspaces(policy, known.size()));
            return List.copyOf(all);
        });
    }

    private List<Keyspace> newKeyspaces(Policy policy, int from) {
        int most = maxKeysOf.getOrDefault(policy.name(), maxKeys);
        List<Keyspace> made = new ArrayList<>();
        for (int i = from; i < policy.limits().size(); i++) {
            made.add(new Keyspace(most, clock));
        }
        return List.copyOf(made);
    }

    /** Sets the alarm, unless it is set. It does not keep the store from being collected. */
    private void sweepLater() {
        if (!sweeping.get() && !closed && sweeping.compareAndSet(false, true)) {
            WeakReference<InMemoryStore> weak = new WeakReference<>(this);
            ticker.schedule(() -> sweep(weak), SWEEP_NANOS);
        }
    }

    private static void sweep(WeakReference<InMemoryStore> weak) {
        InMemoryStore store = weak.get();
        if (store != null && !store.closed) {
            store.sweep();
        }
    }

    private void sweep() {
        sweeping.set(false); // first: a key that comes from here on may not be seen, and sets the next alarm
        shortcuts.clear();
        boolean left = false;
        for (List<Keyspace> limits : keyspaces.values()) {
            for (Keyspace keyspace : limits) {
                keyspace.sweep();
                left |= keyspace.size() > 0;
            }
        }
        if (left) {
            sweepLater();
        }
    }

    /** Settings of a store. Not thread-safe. */
    public static final class Builder {

        private Ticker ticker = Ticker.system();
        private int maxKeys = DEFAULT_MAX_KEYS;
        private final Map<String, Integer> maxKeysOf = new ConcurrentHashMap<>();

        private Builder() {}

        /** The time to go by; the system's by default. */
        public Builder ticker(Ticker time) {
            this.ticker = time;
            return this;
        }

        /**
         * The most keys that each limit of a policy keeps, {@link #DEFAULT_MAX_KEYS} by default.
         *
         * @throws IllegalArgumentException when less than 1
         */
        public Builder maxKeys(int most) {
            this.maxKeys = checked(most);
            return this;
        }

        /**
         * The most keys that each limit of this policy keeps.
         *
         * @throws IllegalArgumentException when less than 1
         */
        public Builder maxKeys(String policy, int most) {
            maxKeysOf.put(policy, checked(most));
            return this;
        }

        /** A new store. */
        public InMemoryStore build() {
            return new InMemoryStore(this);
        }

        private static int checked(int most) {
            if (most < 1) {
                throw new IllegalArgumentException("maxKeys must be at least 1 but was " + most);
            }
            return most;
        }
    }
}
