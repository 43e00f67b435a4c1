package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The leases of frequently used keys. A key used several times within a lease's lifetime gets a lease of as many
 * permits; each time half of them are spent, the next lease is twice as large, up to a fraction of the remaining
 * permits. Unspent permits are refunded to Redis. Thread-safe.
 */
final class Leases {

    /** Charges leases and refunds unspent permits. */
    interface LeaseSource {

        /** Charges without waiting. */
        PendingBatch charge(Charge charge);

        /** Refunds a charge of this server time without waiting. */
        PendingBatch refund(Charge charge, long atNanos);
    }

    private record Budget(String policy, String key) {}

    /**
     * Smaller limits are decided exactly: their leases would hold only a few permits. So are those with a penalty, which
     * must reach all instances at once.
     */
    private static final long MIN_CAPACITY = 100;

    static final int FIRST = 8;
    private static final int MAX_KEYS = 10_000;
    private static final int AT_ONCE = 1_000;

    /** How often in its lifetime a lease is checked for expiry. */
    private static final int SWEEPS_PER_LIFE = 4;

    private final LeaseSource source;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final double fraction;
    private final long maxAgeNanos;
    private final Map<Budget, KeyLeases> byBudget = new ConcurrentHashMap<>();
    private final AtomicBoolean sweeping = new AtomicBoolean();

    /** Of the sweep; whoever sets {@code sweeping} sets it. */
    private volatile Scheduler.@Nullable Alarm alarm;

    private volatile boolean closed;

    /**
     * Starts without leases.
     *
     * @param fraction the maximum share of the remaining permits that one lease takes
     * @param maxAgeNanos how long a lease lasts
     */
    Leases(LeaseSource source, Ticker ticker, Scheduler scheduler, double fraction, long maxAgeNanos) {
        this.source = source;
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.fraction = fraction;
        this.maxAgeNanos = maxAgeNanos;
    }

    /** Spends a charge from a lease; {@code null} if Redis must be asked. */
    @Nullable
    Lease pay(Charge charge) {
        KeyLeases leases = byBudget.get(budget(charge));
        if (leases == null) {
            return null;
        }
        Lease paid = spend(leases.lease(), charge);
        if (paid == null) {
            long now = ticker.nanos();
            if (leases.hasNext()) {
                end(leases, leases.turn(leases.lease()), now);
                paid = spend(leases.lease(), charge);
            } else {
                endIfExpired(leases, leases.lease(), now);
            }
        }
        if (paid != null && paid.left() < paid.whole().permits() / 2) {
            renewIfPossible(leases, charge, 2 * paid.whole().permits());
        }
        return paid;
    }

    /** What is paid already stays paid: a thread without stack or memory may fail here, and the next call tries again. */
    private void renewIfPossible(KeyLeases leases, Charge charge, long size) {
        try {
            renew(leases, charge, size);
        } catch (RuntimeException | Error e) {
            // as if there were no lease
        }
    }

    private @Nullable Lease spend(@Nullable Lease lease, Charge charge) {
        boolean spent = lease != null
                && lease.whole().policy().equals(charge.policy())
                && lease.spend(charge.permits(), ticker.nanos());
        return spent ? lease : null;
    }

    /** Returns a charge to the lease that it was spent from. */
    void giveBack(Lease lease, Charge charge) {
        KeyLeases leases = byBudget.get(budget(charge));
        AtomicLong overdue = leases == null ? new AtomicLong() : leases.overdueNanos;
        Charge due = lease.giveBack(charge.permits()) ? null : lease.due(charge.permits(), ticker.nanos(), overdue);
        if (due != null) {
            source.refund(due, lease.paidNanos());
        }
    }

    /** Returns a charge of this time to its lease, if that still exists. */
    boolean giveBack(Charge charge, long atNanos) {
        KeyLeases leases = byBudget.get(budget(charge));
        Lease lease = leases == null ? null : leases.lease();
        return lease != null && lease.paidNanos() == atNanos && lease.giveBack(charge.permits());
    }

    /** Records that Redis was asked for a charge: its key may get a lease. */
    void asked(Charge charge, List<LimitStatus> statuses) {
        if (closed || !eligible(charge.policy()) || statuses.isEmpty()) {
            return;
        }
        KeyLeases leases = leasesOf(charge);
        if (leases == null) {
            return;
        }
        long now = ticker.nanos();
        leases.remaining = fewestRemaining(statuses);
        if (now - leases.sinceNanos > maxAgeNanos) {
            leases.sinceNanos = now;
            leases.asked.set(0);
        }
        if (leases.asked.incrementAndGet() >= FIRST) {
            renew(leases, charge, leases.wanted);
        }
    }

    /** Takes the leases of a key that is about to be reset. The caller must tell how that has ended. */
    Reset drop(Charge charge) {
        Reset reset = new Reset(source, ticker);
        boolean mayLease = eligible(charge.policy()) && byBudget.size() < MAX_KEYS;
        long now = ticker.nanos();
        // at once, or another reset could be sent before this one has taken the leases
        KeyLeases next = byBudget.compute(budget(charge), (budget, leases) -> {
            if (leases != null) {
                leases.drop(reset);
            }
            return leases != null || mayLease ? new KeyLeases(reset, now) : null;
        });
        if (next != null) {
            sweepLater();
        }
        return reset;
    }

    /** Ends all leases and refunds the rest, in batches small enough for the client's queue. */
    void close(long patienceNanos) {
        closed = true;
        Scheduler.Alarm set = alarm;
        if (set != null) {
            set.cancel();
        }
        long end = ticker.nanos() + patienceNanos;
        byBudget.values().forEach(leases -> await(leases.awaited(), end));
        List<PendingBatch> refunds = new ArrayList<>();
        for (KeyLeases leases : byBudget.values()) {
            long now = ticker.nanos();
            for (Lease lease : leases.empty()) {
                Charge due = lease.end(now, leases.overdueNanos);
                if (due != null) {
                    refunds.add(source.refund(due, lease.paidNanos()));
                }
            }
            if (refunds.size() >= AT_ONCE) {
                await(refunds, end);
            }
        }
        await(refunds, end);
        byBudget.clear();
    }

    private void await(CompletableFuture<Void> lease, long end) {
        try {
            // permits of one that is late make the limit stricter until they are refilled
            Timeout.await(lease, end - ticker.nanos(), scheduler);
        } catch (StoreFailure e) {
            // refunded without waiting
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void await(List<PendingBatch> refunds, long end) {
        for (PendingBatch refund : refunds) {
            try {
                refund.get(end - ticker.nanos());
            } catch (StoreFailure e) {
                // lost permits make the limit stricter until they are refilled
            }
        }
        refunds.clear();
    }

    private static boolean eligible(Policy policy) {
        return policy.penalty() == null
                && !policy.concurrency()
                && policy.limits().stream().allMatch(limit -> limit.capacity() >= MIN_CAPACITY);
    }

    private @Nullable KeyLeases leasesOf(Charge charge) {
        Budget budget = budget(charge);
        KeyLeases known = byBudget.get(budget);
        if (known != null || byBudget.size() >= MAX_KEYS) {
            return known;
        }
        sweepLater();
        return byBudget.computeIfAbsent(budget, key -> new KeyLeases());
    }

    /** Requests another lease, unless one is already requested; does not wait for it. */
    private void renew(KeyLeases leases, Charge charge, long size) {
        if (leases.hasNext() || leases.asking()) {
            return;
        }
        long max = (long) (fraction * leases.remaining);
        CompletableFuture<Void> awaited = Math.min(size, max) < FIRST ? null : leases.expect();
        if (awaited == null) {
            return;
        }
        boolean sent = false;
        try {
            // checked only now, because close() awaits leases that were requested before
            if (!closed) {
                leases.wanted = size;
                ask(leases, charge.policy().charge(charge.key(), Math.min(size, max)), awaited);
                sent = true;
            }
        } finally {
            if (!sent) {
                awaited.complete(null);
            }
        }
    }

    private void ask(KeyLeases leases, Charge whole, CompletableFuture<Void> awaited) {
        long sentNanos = ticker.nanos();
        PendingBatch sent = source.charge(whole);
        sent.then((reply, failure) -> {
            try {
                arrived(leases, whole, sent, reply, sentNanos);
            } finally {
                awaited.complete(null);
            }
        });
    }

    private void arrived(KeyLeases leases, Charge whole, PendingBatch sent, @Nullable Reply reply, long sentNanos) {
        if (reply == null) {
            leases.asked.set(0);
            return;
        }
        List<LimitStatus> statuses = sent.batch().statuses(reply).get(0);
        leases.remaining = fewestRemaining(statuses);
        if (reply.admitted()) {
            leases.receive(new Lease(whole, statuses, reply.nowMicros() * 1000, sentNanos, maxAgeNanos));
        } else {
            leases.wanted = Math.max(FIRST, whole.permits() / 2);
        }
    }

    private void end(KeyLeases leases, @Nullable Lease lease, long now) {
        Charge due = lease == null ? null : lease.end(now, leases.overdueNanos);
        if (lease != null && due != null) {
            leases.refund(source, due, lease.paidNanos());
        }
    }

    private static long fewestRemaining(List<LimitStatus> statuses) {
        return statuses.stream().mapToLong(LimitStatus::remaining).min().orElse(0);
    }

    private static Budget budget(Charge charge) {
        return new Budget(charge.policy().name(), charge.key());
    }

    /** Goes on if the last sweep could not be scheduled. */
    void ensure() {
        if (!sweeping.get() && !byBudget.isEmpty()) {
            sweepLater();
        }
    }

    /** Schedules a sweep, unless one is scheduled. The schedule does not keep the store from being collected. */
    private void sweepLater() {
        if (closed || !sweeping.compareAndSet(false, true)) {
            return;
        }
        try {
            WeakReference<Leases> weak = new WeakReference<>(this);
            Scheduler.Alarm set = scheduler.schedule(() -> sweep(weak), Math.max(1, maxAgeNanos / SWEEPS_PER_LIFE));
            alarm = set;
            if (closed) {
                set.cancel();
            }
        } catch (RuntimeException | Error e) {
            // leases still expire; the next call tries again
            sweeping.set(false);
        }
    }

    private static void sweep(WeakReference<Leases> weak) {
        Leases leases = weak.get();
        if (leases != null) {
            leases.sweep();
        }
    }

    /** Ends expired leases and forgets unused keys. */
    private void sweep() {
        try {
            byBudget.forEach(this::sweep);
        } finally {
            sweeping.set(false);
            if (!byBudget.isEmpty()) {
                sweepLater();
            }
        }
    }

    private void endIfExpired(KeyLeases leases, @Nullable Lease lease, long now) {
        if (lease != null && lease.expired(now)) {
            leases.wanted = Math.max(FIRST, lease.whole().permits() - lease.left());
            leases.empty().forEach(ended -> end(leases, ended, now));
        }
    }

    private void sweep(Budget budget, KeyLeases leases) {
        long now = ticker.nanos();
        Lease lease = leases.lease();
        endIfExpired(leases, lease, now);
        if (lease == null && now - leases.sinceNanos > 2 * maxAgeNanos && leases.retire()) {
            byBudget.remove(budget, leases);
        }
    }
}
