package dev.ratelimit.client;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * How many calls of a key are under way, and how many may be: as many as the server has said that it still admits, and
 * one after a pause, whose answer tells how many may follow. Unbounded while the server says nothing. Thread-safe.
 */
final class InFlight {

    /** Of keys without calls; beyond that, what their servers have said is forgotten. */
    private static final int MAX_IDLE = 10_000;

    private record Calls(long count, long bound) {

        static final Calls NONE = new Calls(0, Long.MAX_VALUE);

        boolean full() {
            return count >= Math.max(1, bound);
        }
    }

    private final ConcurrentHashMap<String, Calls> keys = new ConcurrentHashMap<>();

    /** Counts a call that is about to be sent, unless too many are under way. */
    boolean enter(String key) {
        boolean[] entered = new boolean[1];
        keys.compute(key, (same, known) -> {
            Calls calls = known == null ? Calls.NONE : known;
            entered[0] = !calls.full();
            return entered[0] ? new Calls(calls.count + 1, calls.bound) : calls;
        });
        return entered[0];
    }

    /** Counts a call that has been answered, and what the server still admits. */
    void leave(String key, long bound) {
        keys.computeIfPresent(key, (same, calls) -> kept(calls.count - 1, bound));
    }

    /** Counts a call that has not been sent or answered. */
    void leave(String key) {
        keys.computeIfPresent(key, (same, calls) -> kept(calls.count - 1, calls.bound));
    }

    private @Nullable Calls kept(long count, long bound) {
        boolean forgotten = count == 0 && (bound == Long.MAX_VALUE || keys.size() > MAX_IDLE);
        return forgotten ? null : new Calls(count, bound);
    }

    int keys() {
        return keys.size();
    }
}
