package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Makes keys, and walks through a sequence of them. One walk for each thread; all share the arrays. */
final class Keys {

    /**
     * More than a minute's calls, coming back so slowly, one in five seconds, that no key is ever full: what is full may be
     * forgotten, and is another thing to measure.
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

    /** New strings, whose hashes are known already, as those of a request's parts are not: that would be measured, too. */
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
