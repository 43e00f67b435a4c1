package dev.ratelimit.redis;

import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the events of a store: those of its listener, and its log at WARNING and above. Thread-safe. */
final class Events implements RemoteStoreListener, AutoCloseable {

    private final Map<StoreFailure.Reason, AtomicInteger> failures = new ConcurrentHashMap<>();
    private final AtomicInteger changes = new AtomicInteger();
    private final Warnings warnings = new Warnings("dev.ratelimit");

    @Override
    public void failed(StoreFailure.Reason reason) {
        count(reason).incrementAndGet();
    }

    @Override
    public void changed() {
        changes.incrementAndGet();
    }

    /** How often Redis did not decide for this reason. */
    int failures(StoreFailure.Reason reason) {
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

    private AtomicInteger count(StoreFailure.Reason reason) {
        return failures.computeIfAbsent(reason, first -> new AtomicInteger());
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
