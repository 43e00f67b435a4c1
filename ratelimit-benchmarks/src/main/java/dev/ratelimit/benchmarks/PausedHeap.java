package dev.ratelimit.benchmarks;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * Prints the number of collections, young and full, and their mean and maximum pause in milliseconds, while two
 * threads use many keys at random. Runs in the JVM of a contender in the memory benchmark.
 */
public final class PausedHeap {

    private static final long SECONDS = 10;
    private static final int THREADS = 2;

    private PausedHeap() {}

    /** The contender's name, and the number of keys. */
    public static void main(String[] arguments) throws InterruptedException {
        KeyedContender contender = KeyedContender.valueOf(arguments[0]);
        int keys = Integer.parseInt(arguments[1]);
        Predicate<String> limiter = contender.open(keys);
        for (int i = 0; i < keys; i++) {
            contender.use(limiter, "user-" + i);
        }
        System.gc();
        ask(contender, limiter, keys, SECONDS / 2);
        ConcurrentLinkedQueue<Long> pauses = pauses();
        ask(contender, limiter, keys, SECONDS);
        List<Long> all = List.copyOf(pauses);
        System.out.printf(
                "%d %.1f %d%n",
                all.size(),
                all.stream().mapToLong(Long::longValue).average().orElse(0),
                all.stream().mapToLong(Long::longValue).max().orElse(0));
    }

    /** Creates new keys for each call, as requests do. */
    private static void ask(KeyedContender contender, Predicate<String> limiter, int keys, long seconds)
            throws InterruptedException {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> {
                ThreadLocalRandom random = ThreadLocalRandom.current();
                while (System.nanoTime() - end < 0) {
                    Proof.of(limiter.test("user-" + random.nextInt(keys)), contender);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** The pauses from now on. */
    private static ConcurrentLinkedQueue<Long> pauses() {
        ConcurrentLinkedQueue<Long> pauses = new ConcurrentLinkedQueue<>();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            // newer JDKs report concurrent phases, which pause nobody
            if (!collector.getName().contains("Concurrent")) {
                ((NotificationEmitter) collector)
                        .addNotificationListener(
                                (notification, ignored) -> pauses.add(GarbageCollectionNotificationInfo.from(
                                                (CompositeData) notification.getUserData())
                                        .getGcInfo()
                                        .getDuration()),
                                null,
                                null);
            }
        }
        return pauses;
    }
}
