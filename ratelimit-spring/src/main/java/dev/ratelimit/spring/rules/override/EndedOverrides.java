package dev.ratelimit.spring.rules.override;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.history.ChangeNote;
import dev.ratelimit.spring.rules.history.EndAlarm;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Tells which overrides have ended, soon after they have. No request depends on it: each reads the clock itself.
 * Thread-safe.
 */
final class EndedOverrides implements AutoCloseable {

    private final Ticker ticker;
    private final Consumer<Overrides> observer;

    private Overrides known = Overrides.NONE;

    /** Whatever has ended at this moment or before was told. */
    private long toldMicros;

    private final EndAlarm alarm;

    /**
     * Creates an object that knows no overrides.
     *
     * @param observer is told what has ended, in order
     */
    EndedOverrides(Scheduler scheduler, Ticker ticker, Consumer<Overrides> observer) {
        this.ticker = ticker;
        this.observer = observer;
        this.alarm = new EndAlarm(scheduler, ticker, this::look);
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
        long next = known.values().values().stream()
                .filter(value -> !value.text().isEmpty() && value.until() > toldMicros)
                .mapToLong(Overrides.Value::until)
                .min()
                .orElse(Overrides.NEVER);
        alarm.set(next == Overrides.NEVER ? ChangeNote.NEVER : next);
    }

    private long micros() {
        return Math.floorDiv(ticker.epochNanos(), 1000);
    }

    /** Tells nothing from now on. */
    @Override
    public void close() {
        alarm.close();
    }
}
