package dev.ratelimit.benchmarks;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.List;
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
 * Three policies in one decision, all or nothing, answered in full: what is left and when to come back, for each of
 * them. {@code refused} fails at the last. Bucket4j takes one after the other and gives back; in between others see
 * the tokens gone, and the answer is a mere yes or no.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class ChainBenchmark {

    private static final Rate ENDLESS = Rate.of(1_000_000_000, Duration.ofSeconds(1));
    private static final Rate ONE_A_DAY = Rate.of(1, Duration.ofDays(1));

    private final RateLimitStore store = InMemoryStore.create();
    private final Charge global = Policy.of("global", TokenBucket.of(ENDLESS)).charge();
    private final Charge tenant = Policy.of("tenant", TokenBucket.of(ENDLESS)).charge("t");
    private final Charge user = Policy.of("user", TokenBucket.of(ENDLESS)).charge("u");
    private final Charge empty = Policy.of("empty", TokenBucket.of(ONE_A_DAY)).charge("u");
    private final List<Charge> admitted = List.of(global, tenant, user);
    private final List<Charge> refused = List.of(global, tenant, empty);

    private final Bucket globalBucket = Buckets.of(ENDLESS);
    private final Bucket tenantBucket = Buckets.of(ENDLESS);
    private final Bucket userBucket = Buckets.of(ENDLESS);
    private final Bucket emptyBucket = Buckets.of(ONE_A_DAY);

    /** Empties what is to refuse. */
    @Setup
    public void use() {
        store.tryCharge(empty);
        emptyBucket.tryConsume(1);
    }

    /** This library. */
    @Benchmark
    public Decision admittedOurs() {
        return store.decide(admitted);
    }

    /** Bucket4j, lock-free. */
    @Benchmark
    public boolean admittedBucket4j() {
        return tryConsume(userBucket);
    }

    /** This library. */
    @Benchmark
    public Decision refusedOurs() {
        return store.decide(refused);
    }

    /** Bucket4j, lock-free. */
    @Benchmark
    public boolean refusedBucket4j() {
        return tryConsume(emptyBucket);
    }

    private boolean tryConsume(Bucket last) {
        if (!globalBucket.tryConsume(1)) {
            return false;
        }
        if (!tenantBucket.tryConsume(1)) {
            globalBucket.addTokens(1);
            return false;
        }
        if (!last.tryConsume(1)) {
            tenantBucket.addTokens(1);
            globalBucket.addTokens(1);
            return false;
        }
        return true;
    }
}
