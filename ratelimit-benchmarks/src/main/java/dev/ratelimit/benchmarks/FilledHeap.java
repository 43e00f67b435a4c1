package dev.ratelimit.benchmarks;

import java.lang.ref.Reference;
import java.util.function.Predicate;

/**
 * Prints how many bytes of heap a contender uses for a number of keys. Runs in the JVM of a contender in the memory
 * benchmark.
 */
public final class FilledHeap {

    private FilledHeap() {}

    /** The contender's name, and the number of keys. */
    public static void main(String[] arguments) throws InterruptedException {
        KeyedContender contender = KeyedContender.valueOf(arguments[0]);
        String[] keys = Keys.make(Integer.parseInt(arguments[1]));
        // loads the classes, which do not belong to keys
        fill(contender, contender.open(10), Keys.make(10));
        long before = used();
        Predicate<String> limiter = contender.open(keys.length);
        try {
            fill(contender, limiter, keys);
            System.out.println(used() - before);
        } finally {
            Reference.reachabilityFence(limiter);
            Reference.reachabilityFence(keys);
        }
    }

    private static void fill(KeyedContender contender, Predicate<String> limiter, String[] keys) {
        for (String key : keys) {
            contender.use(limiter, key);
        }
    }

    /** The minimum of several collections, because caches do their maintenance in the meantime. */
    private static long used() throws InterruptedException {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(100);
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
