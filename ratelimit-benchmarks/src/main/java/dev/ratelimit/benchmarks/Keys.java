package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Creates keys, and walks through them in the order of the calls, so that fetching the next one costs no more than a few
 * nanoseconds: where keys lie in random places, waiting for them would hide what the decision waits for. One walk per
 * thread; all share the keys.
 */
final class Keys {

    /**
     * More than a minute's calls, refilled so slowly, one in five seconds, that no key is ever full: a full key may be
     * dropped, which would be another measurement.
     */
    static final Rate AMPLE = Rate.of(400_000_000, Duration.ofSeconds(2_000_000_000));

    private final String[] calls;
    private int next;

    /** Starts at a random one of these calls, as many as a power of two. */
    Keys(String[] calls) {
        this.calls = calls;
        this.next = ThreadLocalRandom.current().nextInt(calls.length);
    }

    /** New strings with known hashes. The strings of requests have none, but computing them would also be measured. */
    static String[] make(int number) {
        return calls(IntStream.range(0, number).toArray());
    }

    /** The same for the calls of a sequence: a string each, one after another in memory. */
    static String[] calls(int[] sequence) {
        String[] keys = new String[sequence.length];
        for (int i = 0; i < keys.length; i++) {
            String key = "user-" + sequence[i];
            keys[i] = key.hashCode() == 0 ? key + "-" : key;
        }
        return keys;
    }

    String next() {
        next = (next + 1) & (calls.length - 1);
        return calls[next];
    }
}
