package dev.ratelimit.benchmarks;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One key of 100,000, at random, admitted. Most of it is memory: the keys asked for are equal to those stored, but other
 * objects, as they are when they come with a request. {@code ours} includes making the charge.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class KeyedBenchmark {

    private static final int KEYS = 100_000;
    private static final int ASKED = 1 << 18;
    private static final Rate RATE = Rate.of(1_000_000, Duration.ofSeconds(1));

    private final String[] asked =
            new Random(1).ints(ASKED, 0, KEYS).mapToObj(i -> "user-" + i).toArray(String[]::new);
    private int next;

    private final RateLimiter limiter = new RateLimiter(InMemoryStore.create());
    private final Policy policy = Policy.of("user", TokenBucket.of(RATE));
    private final ConcurrentHashMap<String, Gcra> floors = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Bucket> buckets = new ConcurrentHashMap<>();

    /** The floor, one for each key in a map. */
    @Benchmark
    public boolean floor() {
        String key = nextKey();
        Gcra floor = floors.get(key);
        return (floor != null ? floor : floors.computeIfAbsent(key, k -> new Gcra(1_000, RATE.permits()))).tryAcquire();
    }

    /** This library. */
    @Benchmark
    public boolean ours() {
        return limiter.tryAcquire(policy.charge(nextKey()));
    }

    /** Bucket4j, a bucket for each key in a map. */
    @Benchmark
    public boolean bucket4j() {
        String key = nextKey();
        Bucket bucket = buckets.get(key);
        return (bucket != null ? bucket : buckets.computeIfAbsent(key, k -> Buckets.of(RATE))).tryConsume(1);
    }

    private String nextKey() {
        next = (next + 1) % ASKED;
        return asked[next];
    }
}
