package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Refunds that no server has executed yet, such as those of permits whose holders ended while the server was gone. They are sent
 * about every second until one does, or until the permits have come back by themselves. Keeps a bounded number; does not keep
 * the store from being collected. Thread-safe.
 */
final class OwedRefunds {

    /** A few megabytes; what exceeds them comes back by itself, at the latest after {@code max-hold}. */
    static final int MAX = 10_000;

    private static final long INTERVAL_NANOS = 1_000_000_000;

    /** How many are sent at once: decisions wait for them on the server, and other alarms wait here. */
    private static final int AT_ONCE = 20;

    /** The time until the next ones are sent. */
    private static final long PAUSE_NANOS = 10_000_000;

    /** How long the refund of a rate that fills up more slowly is owed. */
    private static final long MAX_LIFETIME_NANOS = 24L * 3600 * 1_000_000_000;

    /**
     * A refund that is owed.
     *
     * @param whole whether it is of a whole charge: only these can be repeated if nobody knows whether they were executed
     * @param fromNanos when it may be sent
     * @param untilNanos when nothing is left to refund
     */
    private record Owed(Charge charge, Stamp stamp, boolean whole, long fromNanos, long untilNanos) {

        Owed ofHeldPermits() {
            return new Owed(charge, new Stamp(0, stamp.id()), whole, fromNanos, untilNanos);
        }
    }

    private final Sender sender;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Queue<Owed> owed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger size = new AtomicInteger();
    private final AtomicBoolean armed = new AtomicBoolean();
    private volatile boolean closed;

    OwedRefunds(Sender sender, Ticker ticker, Scheduler scheduler) {
        this.sender = sender;
        this.ticker = ticker;
        this.scheduler = scheduler;
    }

    /** Sends these refunds, and keeps what is not executed. */
    List<Request> post(List<Charge> charges, Stamp stamp) {
        List<Request> sent = sender.postRefund(charges, stamp);
        sent.forEach(each -> keepIfInVain(each, stamp, true));
        return sent;
    }

    /**
     * Keeps what is not executed of refunds that are on their way.
     *
     * @param whole whether they refund whole charges
     */
    void keepIfInVain(Request sent, Stamp stamp, boolean whole) {
        sent.then((answer, failure) -> {
            if (failure != null) {
                long now = ticker.nanos();
                for (Charge charge : sent.charges()) {
                    Owed refund = new Owed(charge, stamp, whole, now, now + lifetimeNanos(charge));
                    keepIfInVain(refund, sent, StoreFailure.of(failure));
                }
            }
        });
    }

    private void keepIfInVain(Owed refund, Request sent, StoreFailure failure) {
        if (failure.executedNothing() || !sent.mayBeExecuted()) {
            keep(refund);
        } else if (refund.whole && refund.charge.policy().concurrency()) {
            // once more, permits that are identified come back at most once; a rate would return what others have
            // charged
            keep(refund.ofHeldPermits());
        }
    }

    /**
     * Owes a refund of held permits for a charge whose outcome nobody knows.
     *
     * @param fromNanos when no server executes the charge any more
     */
    void cancel(Charge charge, long id, long fromNanos) {
        if (charge.policy().concurrency()) {
            keep(new Owed(charge, new Stamp(0, id), true, fromNanos, fromNanos + lifetimeNanos(charge)));
        }
    }

    private void keep(Owed refund) {
        if (closed || size.get() >= MAX) {
            return;
        }
        size.incrementAndGet();
        owed.add(refund);
        arm(0);
    }

    private static long lifetimeNanos(Charge charge) {
        return charge.policy().limits().stream()
                .mapToLong(limit -> Math.min(MAX_LIFETIME_NANOS, limit.replenishNanos()))
                .max()
                .orElse(0);
    }

    /** Goes on if the last alarm could not be set. */
    void ensure() {
        if (!armed.get() && !owed.isEmpty()) {
            arm(0);
        }
    }

    /** Sets an alarm, unless one is set; an early one if so many are left to be sent in this round. */
    private void arm(int left) {
        if (closed || !armed.compareAndSet(false, true)) {
            return;
        }
        WeakReference<OwedRefunds> weak = new WeakReference<>(this);
        try {
            scheduler.schedule(() -> settle(weak, left), left > 0 ? PAUSE_NANOS : INTERVAL_NANOS);
        } catch (RuntimeException | Error e) {
            // a thread may fail to start; the next call tries again
            armed.set(false);
        }
    }

    private static void settle(WeakReference<OwedRefunds> weak, int left) {
        OwedRefunds refunds = weak.get();
        if (refunds != null) {
            refunds.settle(left > 0 ? left : refunds.size.get(), AT_ONCE);
        }
    }

    /** Sends what is owed now; what fails again comes back. */
    private void settle(int round, int atOnce) {
        int left = round;
        try {
            for (int sent = 0; left > 0 && sent < atOnce && !closed; left--) {
                long now = ticker.nanos();
                Owed first = owed.poll();
                if (first == null) {
                    return;
                }
                size.decrementAndGet();
                sent += settleOrKeep(first, now) ? 1 : 0;
            }
        } finally {
            armed.set(false);
            if (!owed.isEmpty()) {
                arm(left);
            }
        }
    }

    private boolean settleOrKeep(Owed first, long now) {
        try {
            return settle(first, now);
        } catch (RuntimeException | Error e) {
            keep(first);
            throw e;
        }
    }

    /** Returns whether it was sent. */
    private boolean settle(Owed first, long now) {
        if (now - first.untilNanos >= 0) {
            return false;
        }
        if (now - first.fromNanos < 0 || !sender.reaches(first.charge)) {
            keep(first);
            return false;
        }
        for (Request sent : sender.postRefund(List.of(first.charge), first.stamp)) {
            sent.then((answer, failure) -> {
                if (failure != null) {
                    keepIfInVain(first, sent, StoreFailure.of(failure));
                }
            });
        }
        return true;
    }

    /** Sends what is owed for the last time. */
    void close() {
        settle(size.get(), MAX);
        closed = true;
        owed.clear();
    }
}
