package dev.ratelimit.spring.rules.traffic;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds the most frequent of any number of keys in bounded memory: the algorithm of Misra and Gries with {@code 2k}
 * counters, of which at most half are kept when there is no room (Anderson et al., "A High-Performance Algorithm for
 * Identifying Frequent Items in Data Streams"). After N keys, every key that came more than N/k times is counted, and no
 * count is more than N/k too low or ever too high. Counting a key that has a counter takes no lock. Thread-safe.
 */
public final class FrequentKeys {

    /** Marks a counter that was dropped; whoever has found it before then looks for the key again. */
    private static final long DROPPED = Long.MIN_VALUE / 2;

    private final int k;
    private final Map<String, AtomicLong> counters = new ConcurrentHashMap<>();

    /** How much any count may be too low. */
    private long lost;

    /**
     * A frequent key.
     *
     * @param key the key
     * @param count the minimum of how often it came
     * @param lost how much higher the true number may be
     */
    public record Frequent(String key, long count, long lost) {}

    /** Creates a counter of keys that are more frequent than 1/k. */
    public FrequentKeys(int k) {
        this.k = k;
    }

    /** Counts a key. */
    public void count(String key) {
        AtomicLong known = counters.get(key);
        if (known == null || known.getAndIncrement() < DROPPED / 2) {
            add(key);
        }
    }

    private synchronized void add(String key) {
        // nothing is dropped meanwhile
        AtomicLong known = counters.get(key);
        if (known != null) {
            known.incrementAndGet();
            return;
        }
        if (counters.size() >= 2 * k) {
            makeRoom();
        }
        counters.put(key, new AtomicLong(1));
    }

    /** Lowers all counts by the k-th highest, so at least k keys lose as much as any other one. */
    private void makeRoom() {
        long least = counters.values().stream()
                .map(AtomicLong::get)
                .sorted(Comparator.reverseOrder())
                .skip(k - 1L)
                .findFirst()
                .orElseThrow();
        counters.values().removeIf(counter -> counter.addAndGet(-least) <= 0 && drop(counter));
        lost += least;
    }

    /** Drops a counter, unless it is counted again meanwhile. */
    private static boolean drop(AtomicLong counter) {
        long value = counter.get();
        while (value <= 0) {
            if (counter.compareAndSet(value, DROPPED)) {
                return true;
            }
            value = counter.get();
        }
        return false;
    }

    /** How much higher than its count the true number of any key may be, also of a key that is not counted. */
    synchronized long lost() {
        return lost;
    }

    /** The counted keys, the most frequent first: all that are more frequent than 1/k, and perhaps others. */
    public synchronized List<Frequent> top() {
        List<Frequent> top = new ArrayList<>();
        counters.forEach((key, count) -> top.add(new Frequent(key, count.get(), lost)));
        top.sort(Comparator.comparingLong(Frequent::count).reversed().thenComparing(Frequent::key));
        return top;
    }
}
