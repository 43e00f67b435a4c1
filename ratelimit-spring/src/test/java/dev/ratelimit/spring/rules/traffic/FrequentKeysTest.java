package dev.ratelimit.spring.rules.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Every key that is more frequent than 1/k is counted, whatever comes in between. */
class FrequentKeysTest {

    private static Map<String, FrequentKeys.Frequent> top(FrequentKeys keys) {
        return keys.top().stream().collect(Collectors.toMap(FrequentKeys.Frequent::key, one -> one));
    }

    private static void check(Map<String, Long> exact, FrequentKeys keys, int k) {
        Map<String, FrequentKeys.Frequent> found = top(keys);
        long all = exact.values().stream().mapToLong(count -> count).sum();
        assertThat(found).hasSizeLessThanOrEqualTo(2 * k);
        exact.forEach((key, count) -> {
            FrequentKeys.Frequent one = found.get(key);
            if (count * k > all) {
                assertThat(one).as("%s: %d of %d", key, count, all).isNotNull();
            }
            if (one != null) {
                assertThat(one.count()).isPositive().isLessThanOrEqualTo(count);
                assertThat(one.count() + one.lost()).isGreaterThanOrEqualTo(count);
                assertThat(one.lost() * k).isLessThanOrEqualTo(all);
            }
        });
    }

    /** Streams of every shape: few keys or many, equally or very unequally frequent, sorted or mixed. */
    @RepeatedTest(200)
    void top_ofARandomStream_hasEveryFrequentKey_withinTheError() {
        Random random = new Random(Seeds.next());
        int k = 1 + random.nextInt(12);
        int length = random.nextInt(3_000);
        int distinct = 1 + random.nextInt(500);
        double skew = 4 * random.nextDouble();
        List<String> stream = IntStream.range(0, length)
                .mapToObj(i -> "k" + (int) (distinct * Math.pow(random.nextDouble(), 1 + skew)))
                .collect(Collectors.toList());
        if (random.nextBoolean()) {
            stream.sort(null);
        }
        FrequentKeys keys = new FrequentKeys(k);
        Map<String, Long> exact = new HashMap<>();

        stream.forEach(key -> {
            keys.count(key);
            exact.merge(key, 1L, Long::sum);
        });

        check(exact, keys, k);
    }

    /** The worst order: as soon as a key is dropped, it comes again. */
    @Test
    void top_afterAFloodOfNewKeys_hasTheFrequentOnes() {
        FrequentKeys keys = new FrequentKeys(4);
        Map<String, Long> exact = new HashMap<>();
        for (int i = 0; i < 10_000; i++) {
            String key = i % 3 == 0 ? "often" : "new" + i;
            keys.count(key);
            exact.merge(key, 1L, Long::sum);
        }

        check(exact, keys, 4);
        assertThat(keys.top().get(0).key()).isEqualTo("often");
    }

    @Test
    void top_withFewKeys_isExact() {
        FrequentKeys keys = new FrequentKeys(5);
        for (int i = 0; i < 10; i++) {
            for (int j = 0; j <= i; j++) {
                keys.count("k" + i);
            }
        }

        assertThat(keys.top()).hasSize(10).allMatch(one -> one.lost() == 0);
        assertThat(top(keys)).containsEntry("k6", new FrequentKeys.Frequent("k6", 7, 0));
    }

    @RepeatedTest(20)
    void count_byManyThreads_losesNoFrequentKey() throws InterruptedException {
        int k = 3;
        int perThread = 5_000;
        FrequentKeys keys = new FrequentKeys(k);
        List<Thread> threads = IntStream.range(0, 4)
                .mapToObj(thread -> new Thread(() -> {
                    for (int i = 0; i < perThread; i++) {
                        keys.count(i % 5 < 2 ? "often" : "t" + thread + "-" + i % 97);
                    }
                }))
                .toList();

        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }

        Map<String, Long> exact = new HashMap<>();
        for (int thread = 0; thread < 4; thread++) {
            for (int i = 0; i < perThread; i++) {
                exact.merge(i % 5 < 2 ? "often" : "t" + thread + "-" + i % 97, 1L, Long::sum);
            }
        }
        check(exact, keys, k);
    }
}
