package dev.ratelimit.spring.rules.override;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells which overrides have ended, soon after they have. No request depends on it: each reads the clock itself.
 * Thread-safe.
 */
final class EndedOverrides implements AutoCloseable {

    /** Clocks are set, so the end may come earlier than expected. */
    private static final long MAX_WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Scheduler scheduler;
    private final Ticker ticker;
    private final Consumer<Overrides> observer;

    private Overrides known = Overrides.NONE;

    /** Whatever has ended at this moment or before was told. */
    private long toldMicros;

    private Scheduler.@Nullable Alarm alarm;
    private boolean closed;

    /**
     * Creates an object that knows no overrides.
     *
     * @param observer is told what has ended, in order
     */
    EndedOverrides(Scheduler scheduler, Ticker ticker, Consumer<Overrides> observer) {
        this.scheduler = scheduler;
        this.ticker = ticker;
        this.observer = observer;
        this.toldMicros = micros();
    }

    /** From now on, these are in force until they end. */
    synchronized void watch(Overrides others) {
        tell();
        known = others;
        schedule();
    }

    private synchronized void look() {
        tell();
        schedule();
    }

    private void tell() {
        long now = micros();
        Map<Overrides.Key, Overrides.Value> ended = new HashMap<>();
        known.values().forEach((key, value) -> {
            if (value.until() > toldMicros
                    && value.until() <= now
                    && !value.text().isEmpty()) {
                ended.put(key, value);
            }
        });
        toldMicros = Math.max(toldMicros, now);
        if (!ended.isEmpty()) {
            observer.accept(new Overrides(ended, 0));
        }
    }

    private void schedule() {
        if (alarm != null) {
            alarm.cancel();
            alarm = null;
        }
        long next = known.values().values().stream()
                .filter(value -> !value.text().isEmpty() && value.until() > toldMicros)
                .mapToLong(Overrides.Value::until)
                .min()
                .orElse(Overrides.NEVER);
        if (next != Overrides.NEVER && !closed) {
            alarm = scheduler.schedule(this::ring, Math.min(MAX_WAIT_NANOS, next * 1000 - ticker.epochNanos()));
        }
    }

    private void ring() {
        try {
            scheduler.blockingExecutor().execute(this::look);
        } catch (RejectedExecutionException e) {
            // with the next override
        }
    }

    private long micros() {
        return Math.floorDiv(ticker.epochNanos(), 1000);
    }

    /** Tells nothing from now on. */
    @Override
    public synchronized void close() {
        closed = true;
        known = Overrides.NONE;
        schedule();
    }
}
