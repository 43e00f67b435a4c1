package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Refunds that no server has executed yet, such as those of permits whose holders ended while Redis was gone. They are sent
 * about every second until one does, or until the permits have come back by themselves. Keeps a bounded number; does not keep
 * the store from being collected. Thread-safe.
 */
final class OwedRefunds {

    /** Sends refunds without waiting. */
    interface Sender {

        /** Whether the charge's server is in use. */
        boolean reaches(Charge charge);

        List<PendingBatch> postRefund(List<Charge> charges, Stamp stamp);
    }

    /** A few megabytes; what exceeds them comes back by itself, at the latest after {@code max-hold}. */
    static final int MAX = 10_000;

    private static final long INTERVAL_NANOS = 1_000_000_000;

    /** How long the refund of a rate that fills up more slowly is owed. */
    private static final long MAX_LIFETIME_NANOS = 24L * 3600 * 1_000_000_000;

    /**
     * A refund that is owed.
     *
     * @param fromNanos when it may be sent
     * @param untilNanos when nothing is left to refund
     */
    private record Owed(Charge charge, Stamp stamp, long fromNanos, long untilNanos) {

        Owed ofHeldPermits() {
            return new Owed(charge, new Stamp(0, stamp.id()), fromNanos, untilNanos);
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
    List<PendingBatch> post(List<Charge> charges, Stamp stamp) {
        List<PendingBatch> sent = sender.postRefund(charges, stamp);
        sent.forEach(each -> keepIfInVain(each, stamp, true));
        return sent;
    }

    /**
     * Keeps what is not executed of refunds that are on their way.
     *
     * @param whole whether they refund whole charges: only these can be repeated if nobody knows whether they were executed
     */
    void keepIfInVain(PendingBatch sent, Stamp stamp, boolean whole) {
        long now = ticker.nanos();
        List<Owed> refunds = sent.batch().charges().stream()
                .map(charge -> new Owed(charge, stamp, now, now + lifetimeNanos(charge)))
                .toList();
        sent.then((answer, failure) -> {
            if (failure != null) {
                refunds.forEach(refund -> keepIfInVain(refund, sent, StoreFailure.of(failure), whole));
            }
        });
    }

    private void keepIfInVain(Owed refund, PendingBatch sent, StoreFailure failure, boolean whole) {
        if (failure.executedNothing() || !sent.mayBeExecuted()) {
            keep(refund);
        } else if (whole && holds(refund.charge)) {
            // once more, permits that are identified come back at most once; a rate would return what others have
            // charged
            keep(refund.ofHeldPermits());
        }
    }

    /**
     * Owes a refund of held permits for a charge whose outcome nobody knows.
     *
     * @param delayNanos until no server executes the charge any more
     */
    void cancel(Charge charge, long id, long delayNanos) {
        if (holds(charge)) {
            long from = ticker.nanos() + delayNanos;
            keep(new Owed(charge, new Stamp(0, id), from, from + lifetimeNanos(charge)));
        }
    }

    private void keep(Owed refund) {
        if (closed || size.get() >= MAX) {
            return;
        }
        size.incrementAndGet();
        owed.add(refund);
        arm();
    }

    private static boolean holds(Charge charge) {
        return charge.policy().limits().stream().anyMatch(Limit::concurrency);
    }

    private static long lifetimeNanos(Charge charge) {
        return charge.policy().limits().stream()
                .mapToLong(limit -> Math.min(MAX_LIFETIME_NANOS, limit.replenishNanos()))
                .max()
                .orElse(0);
    }

    private void arm() {
        if (closed || !armed.compareAndSet(false, true)) {
            return;
        }
        WeakReference<OwedRefunds> weak = new WeakReference<>(this);
        try {
            scheduler.schedule(() -> settle(weak), INTERVAL_NANOS);
        } catch (RuntimeException | Error e) {
            // a thread may fail to start; the next refund in vain tries again
            armed.set(false);
        }
    }

    private static void settle(WeakReference<OwedRefunds> weak) {
        OwedRefunds refunds = weak.get();
        if (refunds != null) {
            refunds.settle();
        }
    }

    /** Sends what is owed now; what fails again comes back. */
    private void settle() {
        armed.set(false);
        try {
            for (int left = size.get(); left > 0 && !closed; left--) {
                Owed first = owed.poll();
                if (first == null) {
                    break;
                }
                size.decrementAndGet();
                settle(first);
            }
        } finally {
            if (!owed.isEmpty()) {
                arm();
            }
        }
    }

    private void settle(Owed first) {
        long now = ticker.nanos();
        if (now - first.untilNanos >= 0) {
            return;
        }
        if (now - first.fromNanos < 0 || !sender.reaches(first.charge)) {
            keep(first);
        } else {
            for (PendingBatch sent : sender.postRefund(List.of(first.charge), first.stamp)) {
                sent.then((answer, failure) -> {
                    if (failure != null) {
                        keepIfInVain(first, sent, StoreFailure.of(failure), true);
                    }
                });
            }
        }
    }

    /** Sends what is owed for the last time. */
    void close() {
        settle();
        closed = true;
        owed.clear();
    }
}
