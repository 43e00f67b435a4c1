package dev.ratelimit;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The time: what it is, and an alarm. Thread-safe. {@code FakeTicker} of {@code ratelimit-test} is one for tests. */
public interface Ticker {

    /** Monotonic time in nanoseconds since some arbitrary point; only differences mean anything. */
    long nanos();

    /** Wall time in nanoseconds since the epoch; may be set back. Only windows that follow the clock use it. */
    long epochNanos();

    /** Runs the task once, on some thread, when at least {@code delayNanos} have passed. */
    void schedule(Runnable task, long delayNanos);

    /** The system's clocks, and the JDK's own timer thread: none is started here. */
    static Ticker system() {
        return SystemTicker.INSTANCE;
    }
}

enum SystemTicker implements Ticker {
    INSTANCE;

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public long epochNanos() {
        Instant now = Instant.now();
        return Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
    }

    @Override
    public void schedule(Runnable task, long delayNanos) {
        Executor later = CompletableFuture.delayedExecutor(Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
        later.execute(task);
    }
}
