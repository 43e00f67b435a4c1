package dev.ratelimit.redis;

import dev.ratelimit.redis.RedisStore.Failure;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What a store tells: its listener, and what it writes to the log at WARNING and above. Thread-safe. */
final class Events extends Handler implements RedisStore.Listener {

    // held, since a logger that nobody holds may be collected, and its handlers with it
    private static final Logger LOG = Logger.getLogger(RedisStore.class.getName());

    private final Map<Failure, AtomicInteger> failures = new EnumMap<>(Failure.class);
    private final AtomicInteger changes = new AtomicInteger();
    private final List<String> warnings = new CopyOnWriteArrayList<>();

    Events() {
        for (Failure failure : Failure.values()) {
            failures.put(failure, new AtomicInteger());
        }
        LOG.addHandler(this);
    }

    @Override
    public void failed(Failure reason) {
        count(reason).incrementAndGet();
    }

    @Override
    public void changed() {
        changes.incrementAndGet();
    }

    /** How often Redis did not decide for this reason. */
    int failures(Failure reason) {
        return count(reason).get();
    }

    /** How often Redis did not decide. */
    int failures() {
        return failures.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** How often a server was left alone, or asked again. */
    int changes() {
        return changes.get();
    }

    /** What was written to the log. */
    List<String> warnings() {
        return warnings;
    }

    private AtomicInteger count(Failure reason) {
        return Objects.requireNonNull(failures.get(reason));
    }

    @Override
    public void publish(LogRecord message) {
        if (message.getLevel().intValue() >= Level.WARNING.intValue()) {
            warnings.add(new SimpleFormatter().formatMessage(message));
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        LOG.removeHandler(this);
    }

    @Override
    public String toString() {
        return failures + ", " + changes + " changes, " + warnings;
    }
}
