package dev.ratelimit.redis;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the events of a store: those of its listener, and its log at WARNING and above. Thread-safe. */
final class Events implements RedisStoreListener, AutoCloseable {

    private final Map<RedisStoreFailure, AtomicInteger> failures = new EnumMap<>(RedisStoreFailure.class);
    private final AtomicInteger changes = new AtomicInteger();
    private final Warnings warnings = new Warnings(RedisStore.class.getPackageName());

    Events() {
        for (RedisStoreFailure failure : RedisStoreFailure.values()) {
            failures.put(failure, new AtomicInteger());
        }
    }

    @Override
    public void failed(RedisStoreFailure reason) {
        count(reason).incrementAndGet();
    }

    @Override
    public void changed() {
        changes.incrementAndGet();
    }

    /** How often Redis did not decide for this reason. */
    int failures(RedisStoreFailure reason) {
        return count(reason).get();
    }

    /** How often Redis did not decide. */
    int failures() {
        return failures.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** How often a server was no longer used, or used again. */
    int changes() {
        return changes.get();
    }

    /** The log. */
    List<String> warnings() {
        return warnings.messages();
    }

    private AtomicInteger count(RedisStoreFailure reason) {
        return Objects.requireNonNull(failures.get(reason));
    }

    @Override
    public void close() {
        warnings.close();
    }

    @Override
    public String toString() {
        return failures + ", " + changes + " changes, " + warnings();
    }
}
