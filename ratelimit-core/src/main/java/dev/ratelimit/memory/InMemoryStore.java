package dev.ratelimit.memory;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the state of keys on the heap of this JVM. Exact: with any number of threads, calls are admitted as if they
 * came one after another.
 *
 * <p>Decisions take short spin locks on the slots of their keys; a refusal by a limit whose state is one long takes
 * none. Nothing blocks for long, and virtual threads are not pinned. {@link #tryCharge} of a policy with a single limit
 * does not allocate for a known key, except when the ring buffer of a {@code SlidingLog} grows or shrinks, and when the
 * ticker reads the wall clock for windows aligned with it: 24 bytes with the system's.
 *
 * <p>Bounded: each limit of each policy keeps at most {@code maxKeys} keys. If there is no room for another, a full key
 * is evicted, or else the one closest to full in a sample, but never an exhausted one. Keys that find no room share one
 * budget per limit. Full keys are also swept out every half minute by an alarm of the {@link Scheduler}, which is set
 * only while there are keys.
 *
 * <p>Thread-safe. Two stores share nothing.
 */
@CheckReturnValue
public final class InMemoryStore implements RateLimitStore {

    /** The default maximum number of keys per limit. */
    public static final int DEFAULT_MAX_KEYS = 1_000_000;

    private static final long SWEEP_NANOS = Duration.ofSeconds(30).toNanos();

    private final Scheduler scheduler;
    private final StoreClock clock;
    private final Keyspaces keyspaces;
    private final TransactionPool transactions;
    private final StackTransaction stack;
    private final HotSlots hotSlots = new HotSlots();
    private final AtomicBoolean sweeping = new AtomicBoolean();

    /** Written before {@link #closed} is read, and read after it is written: at least one thread cancels the alarm. */
    private volatile Scheduler.@Nullable Alarm alarm;

    private volatile boolean closed;

    private InMemoryStore(Builder builder) {
        KeyHash.initialize();
        this.scheduler = builder.scheduler == null ? Scheduler.of(builder.ticker) : builder.scheduler;
        this.clock = new StoreClock(builder.ticker);
        this.keyspaces = new Keyspaces(clock, builder.maxKeys, builder.maxKeysOf);
        this.stack = new StackTransaction(clock, keyspaces::of, hotSlots);
        this.transactions = new TransactionPool(clock);
    }

    /** {@return a store with the system's clocks and {@link #DEFAULT_MAX_KEYS}} */
    public static InMemoryStore create() {
        return builder().build();
    }

    /** {@return a builder with the same settings, to change them} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public boolean tryCharge(Charge charge) {
        return tryCharge(charge.policy(), charge.key(), charge.permits());
    }

    @Override
    public boolean tryCharge(Policy policy, String key, long permits) {
        HotSlot hot = hotSlots.find(policy, key);
        if (hot != null && permits > 0) {
            Outcome known = hot.tryCharge(permits, clock);
            if (known.decided()) {
                return known == Outcome.ADMITTED;
            }
            hotSlots.forget(hot);
        }
        LimitAlgorithm limit = policy.algorithms().get(0);
        if (policy.limits().size() > 1 || permits <= 0 || !isSimple(limit)) {
            return tryCharge(List.of(policy.charge(key, permits)));
        }
        // before anything is charged: after an exception, the call has no effect
        sweepLater();
        Keyspace keys = keyspaces.of(policy).get(0);
        hotSlots.offer(policy, key, keys);
        Outcome outcome = keys.tryCharge(key, limit, permits);
        return outcome == Outcome.OTHER_LIMIT
                ? tryCharge(List.of(policy.charge(key, permits)))
                : outcome == Outcome.ADMITTED;
    }

    /** Whether the state grows, or its slot can be kept. */
    private static boolean isSimple(LimitAlgorithm limit) {
        return limit.grows() ? !(limit instanceof Penalty) : HotSlots.keeps(limit);
    }

    @Override
    public boolean tryCharge(List<Charge> charges) {
        // each limit reads its charge from the list, which the caller may change; an immutable list is not copied
        List<Charge> fixed = List.copyOf(charges);
        Outcome outcome = stack.tryCharge(fixed);
        if (outcome.decided()) {
            return outcome == Outcome.ADMITTED;
        }
        Transaction transaction = transaction(Charge.addUp(fixed));
        sweepLater();
        boolean admitted = transaction.tryCharge();
        transactions.giveBack(transaction);
        return admitted;
    }

    @Override
    public Decision decide(List<Charge> charges) {
        List<Charge> fixed = List.copyOf(charges);
        Decision known = stack.decide(fixed);
        if (known != null) {
            return known;
        }
        Receipt receipt = new Receipt(Charge.addUp(fixed));
        Transaction transaction = transaction(receipt.charges());
        sweepLater();
        Decision decision = transaction.decide(receipt);
        transactions.giveBack(transaction);
        return decision;
    }

    @Override
    public Decision peek(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        Transaction transaction = transaction(distinct);
        Decision decision = transaction.peek(distinct);
        transactions.giveBack(transaction);
        return decision;
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        Receipt paid = decision.receipt() instanceof Receipt receipt ? receipt : null;
        if (paid == null && decision.receipt() != null) {
            throw new IllegalArgumentException(
                    "a decision must be refunded to the store that made it but was of another store");
        }
        Transaction transaction = transactions.take();
        for (Charge charge : Charge.addUp(part)) {
            int index = decision.indexOf(charge);
            if (paid != null) {
                Policy policy = decision.charges().get(index).policy();
                transaction.addPaid(
                        policy.charge(charge.key(), charge.permits()),
                        keyspaces.of(policy),
                        paid,
                        limitsBefore(decision.charges(), index));
            }
        }
        if (paid != null) {
            transaction.refund(paid);
        }
        transactions.giveBack(transaction);
    }

    /** Answers at once, on the calling thread. */
    @Override
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        return answered(() -> decide(charges));
    }

    /** Answers at once, on the calling thread. */
    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return answered(() -> peek(charges));
    }

    /** Refunds at once, on the calling thread. */
    @Override
    @CanIgnoreReturnValue
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        return InMemoryStore.<@Nullable Void>answered(() -> {
            refund(decision, part);
            return null;
        });
    }

    private static <T extends @Nullable Object> CompletionStage<T> answered(Supplier<T> call) {
        try {
            return CompletableFuture.completedFuture(call.get());
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static int limitsBefore(List<Charge> charges, int index) {
        int limits = 0;
        for (int i = 0; i < index; i++) {
            limits += charges.get(i).policy().limits().size();
        }
        return limits;
    }

    @Override
    public boolean reset(Policy policy, String key) {
        Transaction transaction = transaction(List.of(policy.charge(key)));
        transaction.reset();
        transactions.giveBack(transaction);
        return true;
    }

    /** Forgets all keys, as if the store were new. Charges of calls at the same time may be forgotten, even in part. */
    public void clear() {
        keyspaces.clear();
        hotSlots.clear();
    }

    /**
     * {@return the present number of keys of a policy} A key counts once for each limit; those that share an overflow
     * budget do not count.
     *
     * @param policy its name; 0 for one that was never charged
     */
    public long keys(String policy) {
        return keyspaces.sum(policy, Keyspace::size);
    }

    /**
     * {@return how many full keys of a policy were evicted so far, which nobody can notice}
     *
     * @param policy its name
     */
    public long evictedFull(String policy) {
        return keyspaces.sum(policy, Keyspace::evictedFullCount);
    }

    /**
     * {@return how many keys of a policy were evicted so far although permits were charged to them}
     *
     * @param policy its name
     */
    public long evictedActive(String policy) {
        return keyspaces.sum(policy, Keyspace::evictedActiveCount);
    }

    /**
     * {@return the present memory of a policy's tables in bytes} Without the times that a {@code SlidingLog} or a
     * {@code Concurrency} limit remembers, 8 bytes each.
     *
     * @param policy its name; 0 for one that was never charged
     */
    public long bytes(String policy) {
        return keyspaces.sum(policy, Keyspace::bytes);
    }

    /**
     * {@return the maximum of {@link #bytes} for a policy that always has these limits} Plans and overrides may exceed
     * it a little: by 4 bytes per key if there are more than 63 limits, and by 16 bytes for each that has used a budget
     * of its overflow; with several algorithms, every key takes as much as the largest state.
     *
     * @param policy with the limits to keep
     */
    public long maxBytes(Policy policy) {
        List<Keyspace> keys = keyspaces.of(policy);
        long bytes = 0;
        for (int i = 0; i < policy.limits().size(); i++) {
            bytes += keys.get(policy.rank(i)).maxBytes(policy.algorithms().get(i));
        }
        return bytes;
    }

    /** Ends the sweeping. The store can still be used, and then keeps idle keys until it is full. */
    @Override
    public void close() {
        closed = true;
        hotSlots.close();
        Scheduler.Alarm set = alarm;
        if (set != null) {
            set.cancel();
        }
    }

    private Transaction transaction(List<Charge> distinct) {
        Transaction transaction = transactions.take();
        for (int i = 0; i < distinct.size(); i++) {
            Charge charge = distinct.get(i);
            transaction.add(charge, keyspaces.of(charge.policy()));
        }
        return transaction;
    }

    /**
     * Sets the alarm, unless it is already set. The alarm does not keep the store from being collected. A scheduler
     * that fails costs only memory: without sweeps, full keys are kept until the store needs their room.
     */
    private void sweepLater() {
        if (!sweeping.get() && !closed && sweeping.compareAndSet(false, true)) {
            try {
                WeakReference<InMemoryStore> weak = new WeakReference<>(this);
                Scheduler.Alarm set = scheduler.schedule(() -> sweep(weak), SWEEP_NANOS);
                alarm = set;
                if (closed) {
                    set.cancel();
                }
            } catch (RuntimeException | Error e) {
                // a thread may fail to start; the next call tries again
                sweeping.set(false);
            }
        }
    }

    private static void sweep(WeakReference<InMemoryStore> weak) {
        InMemoryStore store = weak.get();
        if (store != null && !store.closed) {
            store.sweep();
        }
    }

    private void sweep() {
        sweeping.set(false); // first: a new key may be missed from here on, and sets the next alarm
        hotSlots.clear();
        boolean left = false;
        Throwable failure = null;
        for (List<Keyspace> limits : keyspaces.all()) {
            for (Keyspace keyspace : limits) {
                try {
                    keyspace.sweep();
                } catch (Throwable thrown) {
                    // a limit that throws keeps only its own keys
                    failure = thrown;
                }
                left |= keyspace.size() > 0;
            }
        }
        if (left) {
            sweepLater();
        }
        if (failure != null) {
            throw rethrown(failure);
        }
    }

    @SuppressWarnings("unchecked") // for the scheduler, as it was thrown
    private static <T extends Throwable> RuntimeException rethrown(Throwable failure) throws T {
        throw (T) failure;
    }

    /** The settings of a store. Not thread-safe. */
    public static final class Builder {

        private Ticker ticker = Ticker.system();
        private @Nullable Scheduler scheduler;
        private int maxKeys = DEFAULT_MAX_KEYS;
        private final Map<String, Integer> maxKeysOf = new ConcurrentHashMap<>();

        private Builder() {}

        /**
         * Sets the clock of the store.
         *
         * @param ticker the system's by default
         * @return this builder
         */
        @CanIgnoreReturnValue
        public Builder ticker(Ticker ticker) {
            this.ticker = ticker;
            return this;
        }

        /**
         * Sets the scheduler of the sweeps.
         *
         * @param scheduler {@linkplain Scheduler#of that of the ticker} by default
         * @return this builder
         */
        @CanIgnoreReturnValue
        public Builder scheduler(Scheduler scheduler) {
            this.scheduler = scheduler;
            return this;
        }

        /**
         * Limits the number of keys that each limit of a policy keeps.
         *
         * @param maxKeys at least 1; {@link #DEFAULT_MAX_KEYS} by default
         * @return this builder
         * @throws IllegalArgumentException if {@code maxKeys} is less than 1
         */
        @CanIgnoreReturnValue
        public Builder maxKeys(int maxKeys) {
            this.maxKeys = checked(maxKeys);
            return this;
        }

        /**
         * Limits the number of keys that each limit of one policy keeps.
         *
         * @param policy its name
         * @param maxKeys at least 1, instead of that for all policies
         * @return this builder
         * @throws IllegalArgumentException if {@code maxKeys} is less than 1
         */
        @CanIgnoreReturnValue
        public Builder maxKeys(String policy, int maxKeys) {
            maxKeysOf.put(policy, checked(maxKeys));
            return this;
        }

        /** {@return a store with these settings} */
        public InMemoryStore build() {
            return new InMemoryStore(this);
        }

        private static int checked(int maxKeys) {
            if (maxKeys < 1) {
                throw new IllegalArgumentException("maxKeys must be at least 1 but was " + maxKeys);
            }
            return maxKeys;
        }
    }
}
