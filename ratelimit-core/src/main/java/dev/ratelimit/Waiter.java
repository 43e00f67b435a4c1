package dev.ratelimit;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A caller who waits in a {@link RateLimitQueue}; guarded by the lock of its rooms, except for the alarms. */
final class Waiter {

    final CompletableFuture<Decision> result = new CompletableFuture<>();
    final Supplier<Decision> decide;

    /** The last answer of the store. */
    volatile Decision last;

    long number;
    long deadline;
    long permits;
    WaitingRoom.@Nullable Line line;

    /** The line for whose head a thread is asking, while it does so for this one. */
    WaitingRoom.@Nullable Line asking;

    private Scheduler.@Nullable Alarm alarm;
    private Scheduler.@Nullable Alarm expiry;

    Waiter(Supplier<Decision> decide, Decision last) {
        this.decide = decide;
        this.last = last;
    }

    static Decision refused(Decision decision) {
        return decision.admitted() ? new Decision(false, decision.charges(), decision.limits(), null) : decision;
    }

    /** The refusal after waiting. */
    Decision refusal() {
        return refused(last);
    }

    /** The refusal at once, because permits of this budget come only after this wait. */
    Decision refusalBehind(Charge at, long waitNanos) {
        List<LimitStatus> limits = last.limits().stream()
                .map(status -> status.charge().sameBudget(at) ? status.behind(Math.max(1, waitNanos)) : status)
                .toList();
        return new Decision(false, last.charges(), limits, null);
    }

    /** How long the caller waits for certain. Permits of a concurrency limit can come back at any moment. */
    long certainWait() {
        long longest = 0;
        for (LimitStatus status : last.limits()) {
            if (!status.limit().concurrency()) {
                longest = Math.max(longest, status.retryAfterNanos());
            }
        }
        return longest;
    }

    synchronized void alarm(Scheduler.Alarm next) {
        alarm = replace(alarm, next);
    }

    synchronized void expiry(Scheduler.Alarm next) {
        expiry = replace(expiry, next);
    }

    private Scheduler.Alarm replace(Scheduler.@Nullable Alarm former, Scheduler.Alarm next) {
        if (former != null) {
            former.cancel();
        }
        if (result.isDone()) {
            next.cancel();
        }
        return next;
    }

    synchronized void cancelAlarms() {
        if (alarm != null) {
            alarm.cancel();
        }
        if (expiry != null) {
            expiry.cancel();
        }
    }
}
