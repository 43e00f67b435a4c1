package dev.ratelimit.benchmarks.report;

import com.sun.management.OperatingSystemMXBean;
import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.benchmarks.spring.EndpointBenchmark;
import dev.ratelimit.memory.InMemoryStore;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * How the cost of a decision grows with the number of keys, of policies, of limits, of charges, of routes and of threads: a
 * table for each, from which {@link Charts} draws a curve. CPU time of the process per decision, so that more threads than cores cost
 * only what they disturb each other. Medians of five rounds, all points in one JVM.
 *
 * <p>An argument is the highest number of keys; a hundred million need a heap of 12 GB.
 */
public final class ScaleBenchmark {

    /** What the title of each table begins with. */
    public static final String TITLE = "Scale: ";

    private static final int ROUNDS = 5;
    private static final Duration ROUND = Duration.ofMillis(300);
    private static final int BATCH = 1_000;
    private static final Duration WARM_UP = Duration.ofMillis(1_500);

    /** Refilled so slowly that no key is ever full, and never empty. */
    private static final Rate AMPLE = Rate.of(400_000_000, Duration.ofSeconds(2_000_000_000));

    /** Refilled so slowly that a key is not full again before the end after a single call; too few for one busy key. */
    private static final Rate RARE = Rate.of(1_000_000, Duration.ofSeconds(2_000_000_000));

    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private ScaleBenchmark() {}

    /** Decides, the n-th time on this thread; true if admitted. */
    private interface Decision {
        boolean take(int n);
    }

    /** Measures, and writes the tables. */
    public static void main(String[] arguments) {
        int mostKeys = arguments.length == 0 ? 10_000_000 : Integer.parseInt(arguments[0]);
        ResultFile file = new ResultFile("scale");
        List<Table> tables = new ArrayList<>();
        for (Supplier<Table> next : List.<Supplier<Table>>of(
                () -> keys(mostKeys),
                () -> curve("policies", 64, ScaleBenchmark::policies),
                () -> curve("limits in one policy", 16, ScaleBenchmark::limits),
                () -> curve("charges in one decision", 64, ScaleBenchmark::charges),
                ScaleBenchmark::routes,
                ScaleBenchmark::threads)) {
            tables.add(next.get());
            file.write("CPU time per decision; medians of " + ROUNDS + " rounds.", tables);
        }
    }

    /** Uniform keys; each call makes the string of its key, which is measured on its own. */
    private static Table keys(int most) {
        double string = median(1, n -> !key(n, 1_000).isEmpty());
        List<List<String>> rows = new ArrayList<>();
        for (int keys = 1_000; keys <= most && keys > 0; keys *= 10) {
            long before = usedHeap();
            Policy policy = Policy.of("p", TokenBucket.of(RARE));
            InMemoryStore store =
                    InMemoryStore.builder().maxKeys(keys + keys / 5).build();
            for (int i = 0; i < keys; i++) {
                admitted(store.tryCharge(policy, "user-" + i, 1));
            }
            if (store.keys("p") != keys) {
                throw new IllegalStateException("only " + store.keys("p") + " keys are left of " + keys);
            }
            double bytes = (double) (usedHeap() - before) / keys;
            int number = keys;
            double nanos = median(1, n -> store.tryCharge(policy, key(n, number), 1));
            store.close();
            rows.add(row(keys, nanos - string, bytes));
        }
        return new Table(TITLE + "keys", List.of("keys", "CPU ns", "bytes per key"), rows);
    }

    private static Decision policies(int policies) {
        InMemoryStore store = InMemoryStore.create();
        List<Policy> all = IntStream.range(0, policies)
                .mapToObj(i -> Policy.of("p" + i, TokenBucket.of(AMPLE)))
                .toList();
        return n -> store.tryCharge(all.get(n % policies), "alice", 1);
    }

    private static Decision limits(int limits) {
        InMemoryStore store = InMemoryStore.create();
        TokenBucket[] all = IntStream.range(0, limits)
                .mapToObj(i -> TokenBucket.of(Rate.of(400_000_000 + i, Duration.ofSeconds(2_000_000_000))))
                .toArray(TokenBucket[]::new);
        Policy policy = Policy.of("p", all);
        return n -> store.tryCharge(policy, "alice", 1);
    }

    private static Decision charges(int charges) {
        InMemoryStore store = InMemoryStore.create();
        List<Charge> all = IntStream.range(0, charges)
                .mapToObj(i -> Policy.of("p" + i, TokenBucket.of(AMPLE)).charge("alice"))
                .toList();
        return n -> store.decide(all).admitted();
    }

    private static Table curve(String what, int most, IntFunction<Decision> decision) {
        List<List<String>> rows = new ArrayList<>();
        for (int x = 1; x <= most; x *= 2) {
            rows.add(row(x, median(1, decision.apply(x))));
        }
        return new Table(TITLE + what, List.of(what, "CPU ns"), rows);
    }

    /** The look-up of an annotated endpoint and of another one; the mock request is measured on its own. */
    private static Table routes() {
        List<List<String>> rows = new ArrayList<>();
        for (int routes = 10; routes <= 10_000; routes *= 10) {
            EndpointBenchmark endpoints = new EndpointBenchmark();
            endpoints.routes = routes;
            endpoints.map();
            Decision request = n -> endpoints.requestOnly() != null;
            rows.add(row(
                    routes,
                    medianBeyond(request, n -> endpoints.limited() != null),
                    medianBeyond(request, n -> endpoints.notLimited() != null)));
        }
        return new Table(TITLE + "routes", List.of("routes", "annotated: CPU ns", "another: CPU ns"), rows);
    }

    private static Table threads() {
        List<List<String>> rows = new ArrayList<>();
        for (int threads = 1; threads <= 64; threads *= 2) {
            InMemoryStore store = InMemoryStore.create();
            Policy policy = Policy.of("p", TokenBucket.of(AMPLE));
            double one = median(threads, n -> store.tryCharge(policy, "alice", 1));
            double many = median(threads, n -> store.tryCharge(policy, key(n, 100_000), 1));
            rows.add(row(threads, one, many));
        }
        return new Table(TITLE + "threads", List.of("threads", "one key: CPU ns", "100,000 keys: CPU ns"), rows);
    }

    /** One of this many, in no order that a cache could foresee. */
    private static String key(int n, int keys) {
        return "user-" + Math.floorMod(n * 0x9E3779B9, keys);
    }

    private static double median(int threads, Decision decision) {
        AtomicInteger turn = new AtomicInteger();
        round(threads, decision, turn, WARM_UP);
        return median(() -> round(threads, decision, turn, ROUND));
    }

    /** What a decision costs more than another, which it contains; measured in turn, as both vary with the machine. */
    private static double medianBeyond(Decision contained, Decision decision) {
        AtomicInteger turn = new AtomicInteger();
        round(1, contained, turn, WARM_UP);
        round(1, decision, turn, WARM_UP);
        return median(() -> round(1, decision, turn, ROUND) - round(1, contained, turn, ROUND));
    }

    private static double median(DoubleSupplier round) {
        return Median.of(DoubleStream.generate(round).limit(ROUNDS).toArray());
    }

    /** {@code turn} is the number of the next thousand calls: no round repeats the calls of another. */
    private static double round(int threads, Decision decision, AtomicInteger turn, Duration time) {
        AtomicLong decisions = new AtomicLong();
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                await(start);
                long end = System.nanoTime() + time.toNanos();
                long taken = 0;
                do {
                    int first = turn.getAndIncrement() * BATCH;
                    for (int n = first; n < first + BATCH; n++) {
                        admitted(decision.take(n & Integer.MAX_VALUE));
                    }
                    taken += BATCH;
                } while (System.nanoTime() - end < 0);
                decisions.addAndGet(taken);
            });
            thread.start();
            running.add(thread);
        }
        long before = SYSTEM.getProcessCpuTime();
        start.countDown();
        running.forEach(ScaleBenchmark::join);
        return (double) (SYSTEM.getProcessCpuTime() - before) / decisions.get();
    }

    private static void admitted(boolean admitted) {
        if (!admitted) {
            throw new IllegalStateException("refused, though the limit is ample");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static long usedHeap() {
        System.gc();
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static List<String> row(int x, double... numbers) {
        List<String> row = new ArrayList<>(List.of(String.format(Locale.ROOT, "%,d", x)));
        for (double number : numbers) {
            row.add(String.format(Locale.ROOT, number < 100 ? "%.1f" : "%.0f", number));
        }
        System.err.println(String.join(" ", row));
        return row;
    }
}
