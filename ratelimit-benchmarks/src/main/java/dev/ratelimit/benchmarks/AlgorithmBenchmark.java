package dev.ratelimit.benchmarks;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Yes or no under one limit of each algorithm, in one thread. {@code admitted} admits more calls than fit into its 10
 * microseconds; {@code refused} is exhausted for a day.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class AlgorithmBenchmark {

    private static final Duration SHORT = Duration.ofNanos(10_000);
    private static final Duration DAY = Duration.ofDays(1);

    /** An algorithm, and the permits per period. */
    public enum Kind {
        /** The state is one long. */
        TOKEN_BUCKET(10_000, TokenBucket::of),
        /** The permits share no divisor with the period, so that the state is two longs. */
        TOKEN_BUCKET_UNEVEN(10_007, TokenBucket::of),
        /** Two longs. */
        TOKEN_BUCKET_INTERVAL(10_000, rate -> TokenBucket.of(rate, rate.permits(), TokenBucket.Refill.INTERVAL)),
        /** Two longs. */
        FIXED_WINDOW(10_000, FixedWindow::of),
        /** Two longs, by wall time. */
        FIXED_WINDOW_ON_CLOCK(10_000, rate -> FixedWindow.onClock(rate, ZoneOffset.UTC)),
        /** Three longs. */
        SLIDING_WINDOW(10_000, SlidingWindow::of),
        /** A long per permit in the window. */
        SLIDING_LOG(10_000, SlidingLog::of);

        private final long permits;
        private final Function<Rate, Limit> limit;

        Kind(long permits, Function<Rate, Limit> limit) {
            this.permits = permits;
            this.limit = limit;
        }

        private Policy every(Duration period) {
            return Policy.of("every " + period, limit.apply(Rate.of(permits, period)));
        }
    }

    /** The algorithm. */
    @Param
    public Kind kind = Kind.TOKEN_BUCKET;

    private final RateLimiter limiter = new RateLimiter(InMemoryStore.create());
    private Charge endless = kind.every(SHORT).charge();
    private Charge empty = kind.every(DAY).charge();

    /** Exhausts the limit that is to refuse. */
    @Setup
    public void use() {
        endless = kind.every(SHORT).charge();
        empty = kind.every(DAY).charge("", kind.permits);
        Proof.of(limiter.tryAcquire(endless), kind);
        Proof.of(limiter.tryAcquire(empty), kind);
        Proof.of(!limiter.tryAcquire(empty), kind);
    }

    /** Always admitted. */
    @Benchmark
    public boolean admitted() {
        return limiter.tryAcquire(endless);
    }

    /** Always refused. */
    @Benchmark
    public boolean refused() {
        return limiter.tryAcquire(empty);
    }
}
