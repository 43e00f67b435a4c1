package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Creates keys, and walks through a sequence of them. One walk per thread; all share the arrays. */
final class Keys {

    /**
     * More than a minute's calls, refilled so slowly, one in five seconds, that no key is ever full: a full key may be
     * dropped, which would be another measurement.
     */
    static final Rate AMPLE = Rate.of(400_000_000, Duration.ofSeconds(2_000_000_000));

    private final String[] keys;
    private final int[] sequence;
    private int next;

    Keys(String[] keys, int[] sequence) {
        this.keys = keys;
        this.sequence = sequence;
        this.next = ThreadLocalRandom.current().nextInt(sequence.length);
    }

    /** New strings with known hashes. The strings of requests have none, but computing them would also be measured. */
    static String[] make(int number) {
        String[] keys = new String[number];
        for (int i = 0; i < number; i++) {
            String key = "user-" + i;
            keys[i] = key.hashCode() == 0 ? key + "-" : key;
        }
        return keys;
    }

    String next() {
        next = (next + 1) & (sequence.length - 1);
        return keys[sequence[next]];
    }
}
