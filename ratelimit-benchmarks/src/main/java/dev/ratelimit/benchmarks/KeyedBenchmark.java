package dev.ratelimit.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
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
 * A token bucket for each of many keys, always admitted. The cost is mostly that of memory: the keys of calls are equal
 * to the stored ones, but other objects, as in requests.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 3,
        jvmArgsAppend = {Heap.GC, Heap.MOST, Heap.YOUNG})
public class KeyedBenchmark {

    /** The limiter. */
    @Param({"NOTHING", "BARE_TABLE", "MAP", "OURS", "BUCKET4J", "RESILIENCE4J", "GUAVA"})
    public KeyedContender contender = KeyedContender.OURS;

    /** The number of keys. */
    @Param({"1000", "100000", "1000000"})
    public int keys = 1000;

    /** How often each key is used. */
    @Param
    public Access access = Access.ZIPF;

    private Predicate<String> limiter = key -> true;
    private String[] calls = {""};

    /** The position of a thread in the sequence. */
    @State(Scope.Thread)
    public static class Walk {

        private Keys keys = new Keys(new String[] {""});

        /** Starts at a random position. */
        @Setup
        public void start(KeyedBenchmark benchmark) {
            keys = new Keys(benchmark.calls);
        }
    }

    /** Uses every key once, so that all are known and the heap is in a steady state. */
    @Setup
    public void fill() {
        limiter = contender.open(keys);
        for (String key : Keys.make(keys)) {
            contender.use(limiter, key);
        }
        calls = Keys.calls(access.sequence(keys));
        System.gc();
    }

    /** Always admitted. */
    @Benchmark
    public boolean admitted(Walk walk) {
        return limiter.test(walk.keys.next());
    }
}
