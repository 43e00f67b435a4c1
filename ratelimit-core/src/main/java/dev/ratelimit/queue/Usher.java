package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Does what is to be done for those who wait: sets alarms, asks the store, answers. Everything foreign is called here,
 * without the hall's lock, and whatever it throws concerns one caller only. Thread-safe.
 */
final class Usher {

    private final RateLimitStore store;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Hall hall;

    /** The turn of a thread that asks the store, also while it answers callers, whose dependents may do anything. */
    @SuppressWarnings("ThreadLocalUsage") // another queue's turn is another one, and each is removed
    private final ThreadLocal<@Nullable Turn> asking = new ThreadLocal<>();

    Usher(RateLimitStore store, Ticker ticker, Scheduler scheduler, Hall hall) {
        this.store = store;
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.hall = hall;
    }

    /** Does everything that transitions have left to do: first for the lines, as those who are answered may take long. */
    void attend(Turn turn) {
        Waiter leaver;
        do {
            for (Step step = nextStep(); step != null; step = nextStep()) {
                take(step, turn);
            }
            leaver = turn.nextLeaver();
            if (leaver != null) {
                release(leaver, turn);
            }
        } while (leaver != null);
    }

    /** Without memory for a step, the next turn of any thread does it. */
    private @Nullable Step nextStep() {
        try {
            return hall.next();
        } catch (Throwable e) {
            report(e);
            return null;
        }
    }

    private void take(Step step, Turn turn) {
        cancel(step.obsolete());
        try {
            if (step.state() == Line.State.DUE) {
                scheduler.executor().execute(() -> serve(step));
            } else if (step.state() == Line.State.UNTIMED) {
                setAlarm(step);
            }
        } catch (Throwable e) {
            hall.failed(step, e, turn);
        }
    }

    private void setAlarm(Step step) {
        long delay = step.tryAt() - ticker.nanos();
        if (delay <= 0) {
            hall.rings(step);
            return;
        }
        Scheduler.Alarm alarm = scheduler.schedule(() -> ring(step), delay);
        if (!hall.keeps(step, alarm)) {
            cancel(alarm);
        }
    }

    private void ring(Step step) {
        Turn turn = Turn.brief();
        hall.rings(step);
        attend(turn);
    }

    /**
     * Asks the store for the head of a line. An executor that runs tasks on the calling thread may have been called by
     * such a turn: that turn goes on with it, because otherwise the stack would grow with each caller.
     */
    private void serve(Step call) {
        Turn outer = asking.get();
        if (outer != null) {
            outer.calls(call);
            return;
        }
        Turn turn = Turn.answering();
        asking.set(turn);
        try {
            for (Step next = call; next != null; next = turn.nextCall()) {
                ask(next, turn);
                attend(turn);
            }
        } finally {
            asking.remove();
        }
    }

    private void ask(Step call, Turn turn) {
        Waiter waiter = hall.called(call);
        if (waiter == null) {
            return;
        }
        try {
            long wakes = hall.wakes(waiter.charges);
            Decision decision = Objects.requireNonNull(waiter.decide.get(), "decide must not return null");
            if (decision.admitted()) {
                admit(call, waiter, decision, turn);
                return;
            }
            Charge at = hall.longestWait(decision);
            Outlook outlook = Outlook.of(decision, ticker.nanos(), wakes, at, waiter.at);
            if (hall.refused(call, waiter, outlook, turn)) {
                expire(waiter, turn);
            }
        } catch (Throwable e) {
            hall.unanswered(call, waiter, e, turn);
        }
    }

    private void admit(Step call, Waiter waiter, Decision decision, Turn turn) {
        Due due = null;
        try {
            due = Due.after(decision, waiter.at, ticker.nanos());
        } catch (Throwable e) {
            // the next one is asked for at once
            report(e);
        }
        boolean waits = false;
        try {
            waits = hall.admitted(call, waiter, decision, due, turn);
        } finally {
            if (!waits) {
                giveBack(decision);
            }
        }
    }

    /** Refunds what was charged to a caller who has left in the meantime; then there is more to attend to. */
    void giveBack(Decision decision) {
        try {
            store.refund(decision);
            for (Charge charge : decision.charges()) {
                hall.wake(charge.policy(), charge.key());
            }
        } catch (Throwable e) {
            report(e);
        }
    }

    /** Sets the alarm that ends a wait. */
    void expire(Waiter waiter, Turn turn) {
        try {
            long deadline = waiter.deadline;
            long delay = deadline - ticker.nanos() + Line.TOLERANCE_NANOS;
            cancel(hall.keeps(waiter, scheduler.schedule(() -> expired(waiter), Math.max(1, delay)), deadline));
        } catch (Throwable e) {
            hall.fail(waiter, e, turn);
        }
    }

    private void expired(Waiter waiter) {
        Turn turn = Turn.brief();
        hall.expired(waiter, turn);
        attend(turn);
    }

    /** Answers a caller who has left the hall. */
    private void release(Waiter waiter, Turn turn) {
        cancel(waiter.expiry);
        Decision admission = waiter.admission;
        if (admission != null) {
            // by a turn that has asked the store, and so may answer
            if (!waiter.result.complete(admission)) {
                giveBack(admission);
            }
        } else if (turn.answers(waiter)) {
            refuse(waiter);
        } else {
            refuseOnExecutor(waiter);
        }
    }

    private void refuseOnExecutor(Waiter waiter) {
        if (waiter.result.isDone()) {
            return;
        }
        try {
            scheduler.executor().execute(() -> refuse(waiter));
        } catch (Throwable e) {
            refuse(waiter);
        }
    }

    /** Answers a caller who does not get its permits, if it still wants to know. */
    void refuse(Waiter waiter) {
        if (waiter.result.isDone()) {
            return;
        }
        if (waiter.failure != null) {
            waiter.result.completeExceptionally(waiter.failure);
            return;
        }
        try {
            long now = ticker.nanos();
            waiter.result.complete(Refusal.of(waiter.last, now - waiter.lastAt, waiter.at, waiter.expected - now));
        } catch (Throwable e) {
            waiter.result.completeExceptionally(e);
        }
    }

    /** An alarm that cannot be cancelled rings in vain. */
    private static void cancel(Scheduler.@Nullable Alarm alarm) {
        if (alarm == null) {
            return;
        }
        try {
            alarm.cancel();
        } catch (Throwable e) {
            report(e);
        }
    }

    /** What concerns no caller goes where the failures of threads go. */
    private static void report(Throwable failure) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable e) {
            // there is nobody left to tell
        }
    }
}
