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
        arm(0);
    }

    private void arm(long minNanos) {
        cancel();
        if (end != ChangedValue.NEVER && !closed) {
            long nanos = Math.min(MAX_WAIT_NANOS, Math.max(minNanos, untilEnd()));
            alarm = scheduler.schedule(this::ring, nanos);
        }
    }

    private long untilEnd() {
        return end * 1000 - ticker.epochNanos();
    }

    private void ring() {
        synchronized (this) {
            if (closed || untilEnd() > 0) {
                arm(0);
                return;
            }
        }
        try {
            scheduler.blockingExecutor().execute(this::run);
        } catch (RuntimeException | Error e) {
            // it was rejected, or no thread could be started
            retry();
        }
    }

    /** Whatever the task calls, such as a listener of the application, ends this round at most. */
    private void run() {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            retry();
            log.warn("Changes or overrides of rate limits could not be ended; this is tried again in a second", e);
        }
    }

    private synchronized void retry() {
        arm(RETRY_NANOS);
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
