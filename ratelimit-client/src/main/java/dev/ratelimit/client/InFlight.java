package dev.ratelimit.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ratelimit.Ticker;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many calls of a key are under way, and how many may be: as many as the server has said that it still admits, and
 * one after a pause, whose answer tells how many may follow. What a server has said ends with time, because the calls
 * under way may wait for those that it holds back. Unbounded while the server says nothing. Thread-safe.
 */
final class InFlight {

    /** Of keys without calls; beyond that, what the server of the one that is idle longest has said is forgotten. */
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

    /** With calls under way. */
    @GuardedBy("this")
    private final Map<String, Calls> busy = new HashMap<>();

    /** Without any, but with a bound, the first that became idle first. */
    @GuardedBy("this")
    private final Map<String, Calls> idle = new LinkedHashMap<>();

    InFlight(Ticker ticker) {
        this.ticker = ticker;
    }

    /** Counts a call that is about to be sent, unless too many are under way. */
    synchronized boolean enter(String key) {
        Calls calls = of(key).at(ticker.nanos());
        if (calls.full()) {
            return false;
        }
        idle.remove(key);
        busy.put(key, calls.with(calls.count + 1));
        return true;
    }

    @GuardedBy("this")
    private Calls of(String key) {
        Calls calls = busy.get(key);
        return calls == null ? idle.getOrDefault(key, Calls.NONE) : calls;
    }

    /**
     * Obeys what the server still admits, for so long.
     *
     * @param sentNanos when the call was sent whose answer says that: an answer to an older call than that which has set the
     *     bound may lower it, but not lift it
     */
    synchronized void bound(String key, long bound, long nanos, long sentNanos) {
        long now = ticker.nanos();
        busy.computeIfPresent(key, (same, known) -> {
            Calls calls = known.at(now);
            boolean older = calls.bounded() && sentNanos - calls.sinceNanos < 0;
            return older && bound >= calls.bound ? calls : new Calls(calls.count, bound, now, now + nanos);
        });
    }

    /** Counts a call that has been answered, or will not be. */
    synchronized void leave(String key) {
        Calls calls = busy.remove(key);
        if (calls == null) {
            return;
        }
        Calls left = calls.with(calls.count - 1);
        if (left.count > 0) {
            busy.put(key, left);
        } else if (left.bounded()) {
            idle.put(key, left);
            if (idle.size() > MAX_IDLE) {
                idle.remove(idle.keySet().iterator().next());
            }
        }
    }

    synchronized int keys() {
        return busy.size() + idle.size();
    }
}
