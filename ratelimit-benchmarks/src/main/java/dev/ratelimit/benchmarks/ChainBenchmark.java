package dev.ratelimit.benchmarks;

import dev.ratelimit.Decision;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
 * Three limits per request: a shared one, one of ten endpoints', and one of many users' by Zipf's law. All admit, or
 * the user's refuses, which every contender asks first, and the others are unchanged.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 3,
        jvmArgsAppend = {Heap.GC, Heap.MOST, Heap.YOUNG})
public class ChainBenchmark {

    private static final Rate ONE_IN_A_YEAR = Rate.of(1, Duration.ofDays(365));
    private static final int ENDPOINTS = 10;
    private static final int CALLS_BEFORE = 20;

    /** Whether the user's limit admits. */
    public enum Outcome {
        /** All limits admit. */
        ADMITTED(Keys.AMPLE),
        /** The user's limit refuses. */
        REFUSED(ONE_IN_A_YEAR);

        private final Rate ofUser;

        Outcome(Rate ofUser) {
            this.ofUser = ofUser;
        }
    }

    /** The limiter. */
    @Param
    public ChainContender contender = ChainContender.OURS;

    /** The outcome. */
    @Param
    public Outcome outcome = Outcome.ADMITTED;

    /** The number of users. */
    @Param({"1000000"})
    public int users = 1000;

    private ChainContender.Chain chain = (endpoint, user) -> true;
    private String[] calls = {""};

    /** The position of a thread in the sequence. */
    @State(Scope.Thread)
    public static class Walk {

        private final String[] endpoints = endpoints();
        private Keys keys = new Keys(new String[] {""});
        private int turn;

        /** Starts at a random position. */
        @Setup
        public void start(ChainBenchmark benchmark) {
            keys = new Keys(benchmark.calls);
        }

        private String endpoint() {
            turn = (turn + 7) % ENDPOINTS;
            return endpoints[turn];
        }
    }

    /** Uses every user and every endpoint, so that all are known and the heap is in a steady state. */
    @Setup
    public void fill() {
        chain = contender.open(users, outcome.ofUser);
        String[] endpoints = endpoints();
        String[] everybody = Keys.make(users);
        for (int user = 0; user < users; user++) {
            for (int i = 0; i < CALLS_BEFORE; i++) {
                boolean expected = i == 0 || outcome == Outcome.ADMITTED;
                // also if only a user's first call is admitted, each endpoint has been called
                String endpoint = endpoints[(user + i) % ENDPOINTS];
                Proof.of(admitted(chain.ask(endpoint, everybody[user])) == expected, contender);
            }
        }
        calls = Keys.calls(Access.ZIPF.sequence(users));
        System.gc();
    }

    /** Yes or no, or a full decision. */
    @Benchmark
    public Object decide(Walk walk) {
        return chain.ask(walk.endpoint(), walk.keys.next());
    }

    private static boolean admitted(Object answer) {
        return answer instanceof Decision decision ? decision.admitted() : (Boolean) answer;
    }

    private static String[] endpoints() {
        return IntStream.range(0, ENDPOINTS)
                .mapToObj(i -> "GET /api/things" + i)
                .toArray(String[]::new);
    }
}
