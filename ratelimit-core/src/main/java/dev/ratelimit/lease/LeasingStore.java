package dev.ratelimit.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Scheduler.Alarm;
import dev.ratelimit.Ticker;
import dev.ratelimit.lease.Payment.Due;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Leases permits of busy keys from another store: charges them there in advance, all or nothing, and spends them without asking.
 * All instances together never spend more than the store has charged; but permits may be spent that were charged up to
 * {@code maxAge} ago. Unspent permits are refunded when their lease ends, and when this store is closed.
 *
 * <p>A key that is asked for eight times within {@code maxAge} gets a lease of eight permits, and when that cannot pay any more,
 * one that is twice as large, up to the fraction of the remaining permits. Nobody waits for it: until it arrives, the store is
 * asked. The store also decides limits below 100, whose leases would hold only a few permits, concurrency limits, and policies
 * with a penalty, which must reach all instances at once.
 *
 * <p>A peek does not count leased permits as remaining. A reset does not refund leases, whose charges it erases: if it fails,
 * they come back with time. What is unspent when the other store fails is refunded when it answers again, although a bucket has
 * refilled meanwhile: so much more may be admitted, once. Thread-safe.
 */
public final class LeasingStore extends ForwardingStore {

    private static final long MIN_CAPACITY = 100;
    private static final int FIRST = 8;
    private static final int MAX_KEYS = 10_000;

    /** The maximum time for what is under way when this store is closed. */
    private static final long PATIENCE_NANOS = 2_000_000_000;

    private record Budget(String policy, String key) {}

    /** How often a key is used, and its lease. Guarded by the monitor of {@code keys}, but for reading the lease. */
    private static final class Key {

        private long sinceNanos;

        /** How many charges the store was asked for since then. */
        private int asked;

        /** A lease that was replaced has ended, and refuses. */
        private volatile @Nullable Lease lease;

        /** Completed while no lease is requested. */
        private CompletableFuture<@Nullable Lease> requested = CompletableFuture.completedFuture(null);

        private boolean isIdle(long nowNanos, long maxAgeNanos) {
            return lease == null && requested.isDone() && nowNanos - sinceNanos > maxAgeNanos;
        }

        /** Counts a charge that the store was asked for; returns how many permits to lease, 0 for no lease. */
        private long asked(long nowNanos, long maxAgeNanos) {
            if (nowNanos - sinceNanos > maxAgeNanos) {
                sinceNanos = nowNanos;
                asked = 0;
            }
            asked++;
            Lease spent = lease;
            boolean busy = spent == null ? asked >= FIRST : spent.left() < spent.permits() / 2;
            return !busy || !requested.isDone() ? 0 : spent == null ? FIRST : 2 * spent.permits();
        }
    }

    private final double fraction;
    private final long maxAgeNanos;
    private final Predicate<Decision> shared;
    private final Ticker ticker;
    private final Scheduler scheduler;

    /** Read without its monitor, and changed with it. */
    private final Map<Budget, Key> keys = new ConcurrentHashMap<>();

    /** When idle keys were last forgotten. */
    @GuardedBy("keys")
    private long forgotNanos;

    @GuardedBy("keys")
    private boolean closed;

    /**
     * Starts without leases.
     *
     * @param store what to lease from; this store closes it
     * @param fraction the maximum share of the remaining permits that one lease takes; above 0 and at most 1
     * @param maxAge above zero: a lease is spent for three quarters of this time, and then refunded
     * @param shared whether all instances know of a decision: what a store decides alone, because its server does not answer,
     *     is not leased
     * @param ticker the clock by which leases end
     * @param scheduler of the alarms that end leases
     * @throws IllegalArgumentException if {@code fraction} or {@code maxAge} is out of range
     */
    public LeasingStore(
            RateLimitStore store,
            double fraction,
            Duration maxAge,
            Predicate<Decision> shared,
            Ticker ticker,
            Scheduler scheduler) {
        super(store);
        if (!(fraction > 0 && fraction <= 1)) {
            throw new IllegalArgumentException("fraction must be above 0 and at most 1 but was " + fraction);
        }
        if (maxAge.isNegative() || maxAge.isZero()) {
            throw new IllegalArgumentException("maxAge must be positive but was " + maxAge);
        }
        this.fraction = fraction;
        this.maxAgeNanos = maxAge.toNanos();
        this.shared = shared;
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.forgotNanos = ticker.nanos();
    }

    @Override
    public boolean tryCharge(Charge charge) {
        return pay(charge) != null || decide(List.of(charge)).admitted();
    }

    @Override
    public Decision decide(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        Payment payment = new Payment(distinct);
        Decision decision = null;
        try {
            List<Charge> unpaid = pay(payment, distinct);
            if (unpaid.size() == distinct.size()) {
                return asked(store().decide(distinct));
            }
            long now = ticker.nanos();
            decision = payment.decision(unpaid.isEmpty() ? null : asked(store().decide(unpaid)), now);
            return decision;
        } finally {
            if (decision == null || !decision.admitted()) {
                // the caller has waited for one answer already
                payment.cancel().forEach(this::refundLater);
            }
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>Completes on the calling thread what leases pay for, and all else where the store completes it.
     */
    @Override
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        try {
            List<Charge> distinct = Charge.addUp(charges);
            return decideAsync(distinct, new Payment(distinct));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what follows does not fail
    private CompletionStage<Decision> decideAsync(List<Charge> distinct, Payment payment) {
        try {
            List<Charge> unpaid = pay(payment, distinct);
            if (unpaid.size() == distinct.size()) {
                CompletionStage<Decision> decided = store().decideAsync(distinct);
                decided.thenAccept(this::asked);
                return decided;
            }
            long now = ticker.nanos();
            CompletableFuture<Decision> result = new CompletableFuture<>();
            if (unpaid.isEmpty()) {
                result.complete(payment.decision(null, now));
                return result;
            }
            store().decideAsync(unpaid).whenComplete((rest, failure) -> {
                Decision decision = rest == null ? null : payment.decision(asked(rest), now);
                if (decision == null || !decision.admitted()) {
                    payment.cancel().forEach(this::refundLater);
                }
                if (decision == null) {
                    result.completeExceptionally(failure);
                } else if (!result.complete(decision)) {
                    refundAsync(decision);
                }
            });
            return result;
        } catch (RuntimeException | Error e) {
            payment.cancel().forEach(this::refundLater);
            throw e;
        }
    }

    /** Spends leases; returns the charges that none can pay for. */
    private List<Charge> pay(Payment payment, List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            Lease lease = pay(charges.get(i));
            if (lease != null) {
                payment.paid(i, lease);
            }
        }
        return payment.unpaid();
    }

    /** The lease that has paid for this charge; {@code null} if the store must be asked. */
    private @Nullable Lease pay(Charge charge) {
        Key key = charge.permits() == 0 ? null : keys.get(budget(charge));
        Lease lease = key == null ? null : key.lease;
        return lease != null && lease.spend(charge, ticker.nanos()) ? lease : null;
    }

    private static Budget budget(Charge charge) {
        return new Budget(charge.policy().name(), charge.key());
    }

    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return store().peekAsync(charges);
    }

    @Override
    public void refund(Decision decision, List<Charge> part) {
        if (decision.receipt() instanceof Payment payment) {
            payment.refund(decision, part).forEach(this::refund);
        } else {
            store().refund(decision, part);
        }
    }

    private void refund(Due due) {
        store().refund(due.decision(), due.part());
    }

    @Override
    @CanIgnoreReturnValue
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        if (!(decision.receipt() instanceof Payment payment)) {
            return store().refundAsync(decision, part);
        }
        try {
            List<Due> dues = payment.refund(decision, part);
            return all(dues.stream()
                            .map(due -> refundLater(due).toCompletableFuture())
                            .toList())
                    .minimalCompletionStage();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @CanIgnoreReturnValue
    private CompletionStage<@Nullable Void> refundLater(Due due) {
        return store().refundAsync(due.decision(), due.part());
    }

    private static CompletableFuture<@Nullable Void> all(List<? extends CompletableFuture<?>> futures) {
        return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new));
    }

    /** Requests leases for busy keys that the store was asked for. Its decision stands in any case. */
    @CanIgnoreReturnValue
    private Decision asked(Decision decision) {
        try {
            if (decision.admitted() && shared.test(decision)) {
                decision.charges().forEach(charge -> asked(decision, charge));
            }
        } catch (RuntimeException | Error e) {
            // the next call asks the store, too
        }
        return decision;
    }

    private void asked(Decision decision, Charge charge) {
        if (!mayLease(charge.policy())) {
            return;
        }
        long max = (long) (fraction * remaining(decision, charge));
        long now = ticker.nanos();
        Budget budget = budget(charge);
        Key key;
        long permits;
        synchronized (keys) {
            key = closed ? null : counted(budget, now);
            permits = key == null ? 0 : Math.min(key.asked(now, maxAgeNanos), max);
            if (key == null || permits < FIRST) {
                return;
            }
            key.requested = new CompletableFuture<>();
        }
        request(budget, key, charge.policy().charge(charge.key(), permits), now);
    }

    private static boolean mayLease(Policy policy) {
        return policy.penalty() == null
                && !policy.concurrency()
                && policy.limits().stream().allMatch(limit -> limit.capacity() >= MIN_CAPACITY);
    }

    private static long remaining(Decision decision, Charge charge) {
        return decision.limits().stream()
                .filter(status -> status.charge().sameBudget(charge))
                .mapToLong(LimitStatus::remaining)
                .min()
                .orElse(0);
    }

    /** The key's count; {@code null} if so many keys are in use. */
    @GuardedBy("keys")
    private @Nullable Key counted(Budget budget, long nowNanos) {
        if (keys.size() >= MAX_KEYS && nowNanos - forgotNanos > maxAgeNanos) {
            forgotNanos = nowNanos;
            keys.values().removeIf(key -> key.isIdle(nowNanos, maxAgeNanos));
        }
        return keys.size() < MAX_KEYS ? keys.computeIfAbsent(budget, same -> new Key()) : keys.get(budget);
    }

    /** Asks the store for a lease, and does not wait for it. */
    @SuppressWarnings("FutureReturnValueIgnored") // the key knows when it has ended
    private void request(Budget budget, Key key, Charge wanted, long sentNanos) {
        CompletableFuture<@Nullable Lease> requested = key.requested;
        try {
            // first of all: nothing is leased that nothing would end
            Alarm alarm = scheduler.schedule(
                    () -> requested.thenAccept(lease -> expire(key, lease)), Lease.lifeNanos(maxAgeNanos));
            store().decideAsync(List.of(wanted)).whenComplete((decision, failure) -> {
                try {
                    if (decision != null && decision.admitted()) {
                        arrived(budget, key, new Lease(decision, sentNanos, maxAgeNanos, alarm));
                    } else {
                        alarm.cancel();
                        replace(budget, key, null);
                    }
                } finally {
                    // an alarm that has rung may wait for it
                    requested.complete(key.lease);
                }
            });
        } catch (RuntimeException | Error e) {
            requested.complete(null);
            throw e;
        }
    }

    private void arrived(Budget budget, Key key, Lease lease) {
        if (!shared.test(lease.decision())) {
            replace(budget, key, null);
            end(lease);
        } else if (!replace(budget, key, lease)) {
            // nobody knows whether the reset of the key has erased its charge
            lease.stop();
            lease.cancelAlarm();
        }
    }

    /** Ends the lease of a key, and stores the next one; returns false if the key was reset meanwhile. */
    @CanIgnoreReturnValue
    private boolean replace(Budget budget, Key key, @Nullable Lease next) {
        Lease former;
        synchronized (keys) {
            if (keys.get(budget) != key) {
                return false;
            }
            former = key.lease;
            key.lease = next;
            key.asked = 0;
        }
        if (former != null) {
            end(former);
        }
        return true;
    }

    /** Ends a lease that is over. */
    private void expire(Key key, @Nullable Lease lease) {
        if (lease != null) {
            synchronized (keys) {
                key.lease = key.lease == lease ? null : key.lease;
            }
            end(lease);
        }
    }

    /** Refunds the rest of a lease. */
    @CanIgnoreReturnValue
    private CompletionStage<@Nullable Void> end(Lease lease) {
        long now = ticker.nanos();
        Charge due = lease.due(lease.stop(), now);
        CompletionStage<@Nullable Void> refunded = due.permits() == 0
                ? CompletableFuture.completedStage(null)
                : store().refundAsync(lease.decision(), List.of(due));
        lease.cancelAlarm();
        return refunded;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Leases of the key end. What they have charged is erased, or comes back with time.
     */
    @Override
    @CanIgnoreReturnValue
    public boolean reset(Policy policy, String key) {
        Budget budget = new Budget(policy.name(), key);
        drop(budget);
        try {
            return store().reset(policy, key);
        } finally {
            // those that were charged before, and have arrived since
            drop(budget);
        }
    }

    private void drop(Budget budget) {
        Key dropped;
        synchronized (keys) {
            dropped = keys.remove(budget);
        }
        Lease lease = dropped == null ? null : dropped.lease;
        if (lease != null) {
            lease.stop();
            lease.cancelAlarm();
        }
    }

    /** Refunds all leases, for which it waits for at most two seconds, and closes the other store. */
    @Override
    public void close() {
        try {
            long endNanos = ticker.nanos() + PATIENCE_NANOS;
            synchronized (keys) {
                closed = true;
            }
            await(all(keys.values().stream().map(key -> key.requested).toList()), endNanos);
            await(endLeases(), endNanos);
        } finally {
            store().close();
        }
    }

    /** Ends all leases; completed when they are refunded. */
    CompletableFuture<@Nullable Void> endLeases() {
        List<Key> last;
        synchronized (keys) {
            last = List.copyOf(keys.values());
            keys.clear();
        }
        return all(last.stream()
                .flatMap(key -> Stream.ofNullable(key.lease))
                .map(lease -> end(lease).toCompletableFuture())
                .toList());
    }

    private void await(CompletableFuture<?> future, long endNanos) {
        try {
            scheduler.await(future, endNanos - ticker.nanos());
        } catch (InterruptedException e) {
            // what was sent is refunded without waiting
            Thread.currentThread().interrupt();
        }
    }
}
