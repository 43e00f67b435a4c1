package dev.ratelimit;

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
