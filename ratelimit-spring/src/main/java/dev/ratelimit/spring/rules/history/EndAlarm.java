package dev.ratelimit.spring.rules.history;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task when something ends by the wall clock, on a thread that may block. It looks at the clock at least once a
 * minute until then, since clocks are set. Thread-safe.
 */
public final class EndAlarm implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EndAlarm.class);

    private static final long MAX_WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Scheduler scheduler;
    private final Ticker ticker;
    private final Runnable task;

    private long end = ChangedValue.NEVER;
    private Scheduler.@Nullable Alarm alarm;
    private boolean closed;

    /** Whether the task is to run whatever the clock says, and has not begun. */
    private boolean ringing;

    /**
     * Creates an alarm that is not set.
     *
     * @param task what to run once the moment has come; may set the alarm again
     */
    public EndAlarm(Scheduler scheduler, Ticker ticker, Runnable task) {
        this.scheduler = scheduler;
        this.ticker = ticker;
        this.task = task;
    }

    /**
     * Sets the alarm, in place of an earlier one.
     *
     * @param micros since the epoch; {@link ChangedValue#NEVER} for none
     */
    public synchronized void set(long micros) {
        end = micros;
        arm();
    }

    /** Runs the task soon, whatever the clock says: once for all who ask before it begins. Does not wait for it. */
    public void ring() {
        synchronized (this) {
            if (closed || ringing) {
                return;
            }
            ringing = true;
        }
        execute();
    }

    private void arm() {
        cancel();
        if ((ringing || end != ChangedValue.NEVER) && !closed) {
            long nanos = ringing ? RETRY_NANOS : Math.min(MAX_WAIT_NANOS, Math.max(0, untilEnd()));
            alarm = scheduler.schedule(this::look, nanos);
        }
    }

    private long untilEnd() {
        return end * 1000 - ticker.epochNanos();
    }

    private void look() {
        synchronized (this) {
            if (closed || (!ringing && untilEnd() > 0)) {
                arm();
                return;
            }
        }
        execute();
    }

    private void execute() {
        try {
            scheduler.blockingExecutor().execute(this::run);
        } catch (RuntimeException | Error e) {
            // it was rejected, or no thread could be started
            retry();
        }
    }

    /** Whatever the task calls, such as a listener of the application, ends this round at most. */
    private void run() {
        synchronized (this) {
            ringing = false;
        }
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            retry();
            log.warn("Changes or overrides of rate limits could not be ended; this is tried again in a second", e);
        }
    }

    private synchronized void retry() {
        ringing = true;
        arm();
    }

    private void cancel() {
        if (alarm != null) {
            alarm.cancel();
            alarm = null;
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        cancel();
    }
}
