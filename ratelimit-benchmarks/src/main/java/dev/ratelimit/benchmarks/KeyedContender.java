package dev.ratelimit.benchmarks;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import io.github.bucket4j.Bucket;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/** Limiters of many keys, each with its own budget. */
public enum KeyedContender {
    /** No decision: only reads the hash of the key. The cost of the benchmark itself. */
    NOTHING(keys -> key -> key.hashCode() != 1),
    /** The floor. */
    BARE_TABLE(keys -> new BareTable(keys, new Gcra(Keys.AMPLE))::tryAcquire),
    /** The floor of anything that uses the JDK's map: an {@link AtomicLong} per key. */
    MAP(keys -> {
        Gcra gcra = new Gcra(Keys.AMPLE);
        ConcurrentHashMap<String, AtomicLong> arrivals = new ConcurrentHashMap<>();
        return key -> {
            AtomicLong arrival = arrivals.get(key);
            return gcra.tryAcquire(
                    arrival != null
                            ? arrival
                            : arrivals.computeIfAbsent(key, absent -> new AtomicLong(System.nanoTime())));
        };
    }),
    /** This library, in memory: a token bucket. */
    OURS(keys -> ours(keys, TokenBucket.of(Keys.AMPLE))),
    /** This library, in memory: a fixed window. */
    OURS_FIXED_WINDOW(keys -> ours(keys, FixedWindow.of(Keys.AMPLE))),
    /** This library, in memory: a sliding window. */
    OURS_SLIDING_WINDOW(keys -> ours(keys, SlidingWindow.of(Keys.AMPLE))),
    /** Bucket4j, lock-free, in a Caffeine cache. */
    BUCKET4J(keys -> {
        Bucket4j buckets = new Bucket4j(Keys.AMPLE, keys);
        return key -> buckets.bucket(key).tryConsume(1);
    }),
    /** The same in the JDK's map, which keeps the buckets of all keys for ever. */
    BUCKET4J_IN_MAP(keys -> {
        ConcurrentHashMap<String, Bucket> buckets = new ConcurrentHashMap<>();
        Function<String, Bucket> making = absent -> Bucket4j.bucket(Keys.AMPLE);
        return key -> {
            Bucket bucket = buckets.get(key);
            return (bucket != null ? bucket : buckets.computeIfAbsent(key, making)).tryConsume(1);
        };
    }),
    /** Resilience4j's registry. */
    RESILIENCE4J(keys -> Resilience4j.byKey(Keys.AMPLE)),
    /** Guava's limiter, in a Caffeine cache. */
    GUAVA(Guava::byKey);

    private static final int CALLS = 20;

    private final IntFunction<Predicate<String>> opening;

    KeyedContender(IntFunction<Predicate<String>> opening) {
        this.opening = opening;
    }

    /** Creates a limiter for this number of keys. */
    Predicate<String> open(int keys) {
        return opening.apply(keys);
    }

    /** Calls its limiter so often for a key that this is not full again, and dropped, for a minute and a half. */
    void use(Predicate<String> limiter, String key) {
        for (int i = 0; i < CALLS; i++) {
            Proof.of(limiter.test(key), this);
        }
    }

    private static Predicate<String> ours(int keys, Limit limit) {
        RateLimitStore store = InMemoryStore.builder().maxKeys(keys + keys / 5).build();
        Policy policy = Policy.of("user", limit);
        return key -> store.tryCharge(policy, key, 1);
    }
}
