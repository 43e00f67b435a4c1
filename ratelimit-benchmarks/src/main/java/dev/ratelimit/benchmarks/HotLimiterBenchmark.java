package dev.ratelimit.benchmarks;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One hot token bucket, one thread. {@code admitted} is refilled faster than anybody can ask, {@code refused} is empty
 * for a day. To be compared: {@code ours} with {@code floor}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class HotLimiterBenchmark {

    private static final Rate ENDLESS = Rate.of(1_000_000_000, Duration.ofSeconds(1));
    private static final Rate ONE_A_DAY = Rate.of(1, Duration.ofDays(1));

    private final RateLimiter limiter = new RateLimiter(InMemoryStore.create());
    private final Charge endless = Policy.of("endless", TokenBucket.of(ENDLESS)).charge();
    private final Charge empty = Policy.of("empty", TokenBucket.of(ONE_A_DAY)).charge();
    private final Gcra endlessFloor = new Gcra(1, ENDLESS.permits());
    private final Gcra emptyFloor = new Gcra(ONE_A_DAY.periodNanos(), 1);
    private final Bucket endlessBucket = Buckets.of(ENDLESS);
    private final Bucket emptyBucket = Buckets.of(ONE_A_DAY);

    /** Empties what is to refuse. */
    @Setup
    public void use() {
        limiter.tryAcquire(empty);
        emptyFloor.tryAcquire();
        emptyBucket.tryConsume(1);
    }

    /** The hardware's part. */
    @Benchmark
    public boolean admittedFloor() {
        return endlessFloor.tryAcquire();
    }

    /** This library. */
    @Benchmark
    public boolean admittedOurs() {
        return limiter.tryAcquire(endless);
    }

    /** Bucket4j, lock-free. */
    @Benchmark
    public boolean admittedBucket4j() {
        return endlessBucket.tryConsume(1);
    }

    /** The hardware's part of a refusal: the clock, and no compare-and-swap. */
    @Benchmark
    public boolean refusedFloor() {
        return emptyFloor.tryAcquire();
    }

    /** This library. */
    @Benchmark
    public boolean refusedOurs() {
        return limiter.tryAcquire(empty);
    }

    /** Bucket4j, lock-free. */
    @Benchmark
    public boolean refusedBucket4j() {
        return emptyBucket.tryConsume(1);
    }
}
