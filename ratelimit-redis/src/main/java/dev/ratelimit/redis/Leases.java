package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.Node.Sent;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The leases of the keys that are asked for most. A key that was asked for a few times in a lease's life gets one, of as
 * many permits; it gets twice as many each time that it has spent half of them, up to a fraction of what is left to all.
 * What is not spent goes back to Redis. Thread-safe.
 */
final class Leases {

    /** Where leases come from and go back to. */
    interface Bank {

        /** Charges, without waiting. */
        List<Sent> charge(Charge charge);

        /** Gives back what was charged at this time of the server, without waiting. */
        void refund(Charge charge, long atNanos);
    }

    /** One key's. */
    private static final class Account {

        private final AtomicBoolean asking = new AtomicBoolean();
        private final AtomicInteger asked = new AtomicInteger();
        private volatile @Nullable Lease lease;
        private volatile @Nullable Lease next;
        private volatile long since;
        private volatile long wanted = FIRST;
        private volatile long remaining;

        /** Puts the next lease in the place of this one, if it still is there; returns what is to be ended. */
        private synchronized @Nullable Lease turn(@Nullable Lease spent) {
            if (lease != spent || next == null) {
                return null;
            }
            lease = next;
            next = null;
            return spent;
        }

        /** Takes both leases away. */
        private synchronized List<Lease> empty() {
            List<Lease> both = Stream.of(lease, next).filter(Objects::nonNull).toList();
            lease = null;
            next = null;
            return both;
        }
    }

    private record Budget(String policy, String key) {}

    /** A limit of less is decided exactly: a lease of it would be a few permits. */
    private static final long LEAST_CAPACITY = 100;

    private static final int FIRST = 8;
    private static final int MOST_ACCOUNTS = 10_000;

    private final Bank bank;
    private final Ticker ticker;
    private final double fraction;
    private final long maxAgeNanos;
    private final Map<Budget, Account> accounts = new ConcurrentHashMap<>();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private volatile boolean closed;

    /**
     * No leases yet.
     *
     * @param fraction of what remains that one lease takes at most
     * @param maxAgeNanos how long a lease holds
     */
    Leases(Bank bank, Ticker ticker, double fraction, long maxAgeNanos) {
        this.bank = bank;
        this.ticker = ticker;
        this.fraction = fraction;
        this.maxAgeNanos = maxAgeNanos;
    }

    /** Pays a charge from a lease; {@code null} when it has to be asked for. */
    @Nullable
    Lease pay(Charge charge) {
        Account account = accounts.get(budget(charge));
        if (account == null) {
            return null;
        }
        Lease paid = spend(account.lease, charge);
        if (paid == null && account.next != null) {
            end(account.turn(account.lease));
            paid = spend(account.lease, charge);
        }
        if (paid != null && paid.left() < paid.whole().permits() / 2) {
            renew(account, charge, 2 * paid.whole().permits());
        }
        return paid;
    }

    private @Nullable Lease spend(@Nullable Lease lease, Charge charge) {
        boolean spent = lease != null
                && lease.whole().policy().equals(charge.policy())
                && lease.spend(charge.permits(), ticker.nanos());
        return spent ? lease : null;
    }

    /** Takes back what was paid from this lease. */
    void giveBack(Lease lease, Charge charge) {
        if (!lease.giveBack(charge.permits())) {
            bank.refund(charge, lease.paidNanos());
        }
    }

    /** Takes back what was paid at this time, if the lease of then is still there. */
    boolean giveBack(Charge charge, long atNanos) {
        Account account = accounts.get(budget(charge));
        Lease lease = account == null ? null : account.lease;
        return lease != null && lease.paidNanos() == atNanos && lease.giveBack(charge.permits());
    }

    /** A charge had to be asked for: perhaps its key deserves a lease. */
    void asked(Charge charge, List<LimitStatus> statuses) {
        if (closed || !eligible(charge.policy()) || statuses.isEmpty()) {
            return;
        }
        Account account = account(charge);
        if (account == null) {
            return;
        }
        long now = ticker.nanos();
        account.remaining = least(statuses);
        if (now - account.since > maxAgeNanos) {
            account.since = now;
            account.asked.set(0);
        }
        if (account.asked.incrementAndGet() >= FIRST) {
            renew(account, charge, account.wanted);
        }
    }

    /** Forgets the lease of a key that was reset. */
    void drop(Charge charge) {
        Account account = accounts.remove(budget(charge));
        if (account != null) {
            account.empty().forEach(Lease::end);
        }
    }

    /** Ends all leases, and returns what is to go back to Redis. */
    List<Lease> close() {
        closed = true;
        List<Lease> ended = new ArrayList<>();
        accounts.values().forEach(account -> ended.addAll(account.empty()));
        accounts.clear();
        return ended;
    }

    private static boolean eligible(Policy policy) {
        return policy.limits().stream().allMatch(limit -> limit.capacity() >= LEAST_CAPACITY);
    }

    private @Nullable Account account(Charge charge) {
        Budget budget = budget(charge);
        Account known = accounts.get(budget);
        if (known != null || accounts.size() >= MOST_ACCOUNTS) {
            return known;
        }
        sweepLater();
        return accounts.computeIfAbsent(budget, key -> new Account());
    }

    /** Asks for another lease, unless somebody does; nobody waits for it. */
    private void renew(Account account, Charge charge, long size) {
        if (account.next != null || account.asking.get()) {
            return;
        }
        long most = (long) (fraction * account.remaining);
        if (Math.min(size, most) < FIRST || closed || !account.asking.compareAndSet(false, true)) {
            return;
        }
        account.wanted = size;
        long sentNanos = ticker.nanos();
        Charge whole = charge.policy().charge(charge.key(), Math.min(size, most));
        Sent sent = bank.charge(whole).get(0);
        sent.then(() -> arrived(account, whole, sent, sentNanos));
    }

    private void arrived(Account account, Charge whole, Sent sent, long sentNanos) {
        try {
            Answer answer = sent.await(0);
            List<LimitStatus> statuses =
                    sent.batch().statuses(answer).values().iterator().next();
            account.remaining = least(statuses);
            if (answer.admitted()) {
                account.next = new Lease(whole, statuses, answer.nowMicros() * 1000, sentNanos, maxAgeNanos);
                if (account.lease == null) {
                    account.turn(null);
                }
                if (closed) {
                    account.empty().forEach(this::end);
                }
            } else {
                account.wanted = Math.max(FIRST, whole.permits() / 2);
            }
        } catch (StoreFailure e) {
            account.asked.set(0);
        } finally {
            account.asking.set(false);
        }
    }

    private void end(@Nullable Lease lease) {
        Charge unspent = lease == null ? null : lease.end();
        if (lease != null && unspent != null) {
            bank.refund(unspent, lease.paidNanos());
        }
    }

    private static long least(List<LimitStatus> statuses) {
        return statuses.stream().mapToLong(LimitStatus::remaining).min().orElse(0);
    }

    private static Budget budget(Charge charge) {
        return new Budget(charge.policy().name(), charge.key());
    }

    /** Sets the alarm, unless it is set. It does not keep the store from being collected. */
    private void sweepLater() {
        if (!closed && sweeping.compareAndSet(false, true)) {
            WeakReference<Leases> weak = new WeakReference<>(this);
            ticker.schedule(() -> sweep(weak), maxAgeNanos);
        }
    }

    private static void sweep(WeakReference<Leases> weak) {
        Leases leases = weak.get();
        if (leases != null) {
            leases.sweep();
        }
    }

    /** Ends leases whose time is over, and forgets keys that nobody asks for. */
    private void sweep() {
        long now = ticker.nanos();
        accounts.forEach((budget, account) -> {
            Lease lease = account.lease;
            if (lease != null && lease.expired(now)) {
                account.wanted = Math.max(FIRST, lease.whole().permits() - lease.left());
                account.empty().forEach(this::end);
            } else if (lease == null && now - account.since > 2 * maxAgeNanos && !account.asking.get()) {
                accounts.remove(budget, account);
            }
        });
        sweeping.set(false);
        if (!accounts.isEmpty()) {
            sweepLater();
        }
    }
}
