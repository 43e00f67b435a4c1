package dev.ratelimit.benchmarks;

import dev.ratelimit.Rate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
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
 * One hot token bucket. {@code admitted} is refilled faster than callers can use it, {@code refused} is empty for a
 * day. With {@code -t 2}, the cost is that of moving the cache line between two cores.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 3,
        jvmArgsAppend = {Heap.GC, Heap.MOST, Heap.YOUNG})
public class HotLimiterBenchmark {

    private static final Rate ENDLESS = Rate.of(1_000_000_000, Duration.ofSeconds(1));
    private static final Rate ONE_A_DAY = Rate.of(1, Duration.ofDays(1));

    /** The limiter. */
    @Param
    public HotContender contender = HotContender.OURS;

    private BooleanSupplier endless = () -> true;
    private BooleanSupplier empty = () -> false;

    /** Exhausts the bucket that is to refuse. */
    @Setup
    public void open() {
        endless = contender.open(ENDLESS);
        empty = contender.open(ONE_A_DAY);
        Proof.of(endless.getAsBoolean() && empty.getAsBoolean() && !empty.getAsBoolean(), contender);
    }

    /** Always admitted. */
    @Benchmark
    public boolean admitted() {
        return endless.getAsBoolean();
    }

    /** Always refused. */
    @Benchmark
    public boolean refused() {
        return empty.getAsBoolean();
    }
}
