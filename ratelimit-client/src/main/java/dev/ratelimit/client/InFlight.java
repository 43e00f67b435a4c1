package dev.ratelimit.client;

import dev.ratelimit.Ticker;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * How many calls of a key are under way, and how many may be: as many as the server has said that it still admits, and
 * one after a pause, whose answer tells how many may follow. What a server has said ends with time, because the calls
 * under way may wait for those that it holds back. Unbounded while the server says nothing. Thread-safe.
 */
final class InFlight {

    /** Of keys without calls; beyond that, what their servers have said is forgotten. */
    private static final int MAX_IDLE = 10_000;

    private record Calls(long count, long bound, long sinceNanos, long endNanos) {

        static final Calls NONE = new Calls(0, Long.MAX_VALUE, 0, 0);

        Calls with(long count) {
            return new Calls(count, bound, sinceNanos, endNanos);
        }

        Calls at(long nanos) {
            return bounded() && nanos - endNanos >= 0 ? NONE.with(count) : this;
        }

        boolean bounded() {
            return bound != Long.MAX_VALUE;
        }

        boolean full() {
            return count >= Math.max(1, bound);
        }
    }

    private final Ticker ticker;
    private final ConcurrentHashMap<String, Calls> keys = new ConcurrentHashMap<>();

    InFlight(Ticker ticker) {
        this.ticker = ticker;
    }

    /** Counts a call that is about to be sent, unless too many are under way. */
    boolean enter(String key) {
        long now = ticker.nanos();
        boolean[] entered = new boolean[1];
        keys.compute(key, (same, known) -> {
            Calls calls = known == null ? Calls.NONE : known.at(now);
            entered[0] = !calls.full();
            return entered[0] ? calls.with(calls.count + 1) : calls;
        });
        return entered[0];
    }

    /**
     * Obeys what the server still admits, for so long.
     *
     * @param sentNanos when the call was sent whose answer says that: an answer to an older call than that which has set the
     *     bound may lower it, but not lift it
     */
    void bound(String key, long bound, long nanos, long sentNanos) {
        long now = ticker.nanos();
        keys.computeIfPresent(key, (same, known) -> {
            Calls calls = known.at(now);
            boolean older = calls.bounded() && sentNanos - calls.sinceNanos < 0;
            return older && bound >= calls.bound ? calls : new Calls(calls.count, bound, now, now + nanos);
        });
    }

    /** Counts a call that has been answered, or will not be. */
    void leave(String key) {
        keys.computeIfPresent(key, (same, calls) -> kept(calls.with(calls.count - 1)));
    }

    private @Nullable Calls kept(Calls calls) {
        boolean forgotten = calls.count == 0 && (!calls.bounded() || keys.size() > MAX_IDLE);
        return forgotten ? null : calls;
    }

    int keys() {
        return keys.size();
    }
}
