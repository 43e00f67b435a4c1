package dev.ratelimit.benchmarks.redis;

import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/** One contender, called by this number of callers for a while, each as fast as it gets answers. */
final class Round {

    private final Contender contender;
    private final Requests requests;
    private final Duration time;
    private final CyclicBarrier start;
    private volatile Usage before = new Usage(0, 0, 0, 0, 0);

    private Round(
            Contender contender, Requests requests, RedisCommands<String, String> server, int callers, Duration time) {
        this.contender = contender;
        this.requests = requests;
        this.time = time;
        this.start = new CyclicBarrier(callers, () -> before = Usage.now(server));
    }

    /** The requests of the callers: one of these endpoints, and one of these users. */
    record Requests(List<String> endpoints, List<String> users) {

        static Requests of(Entry entry) {
            return new Requests(named("endpoint-", entry.endpoints()), named("user-", entry.users()));
        }

        private static List<String> named(String prefix, int count) {
            return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
        }
    }

    /** Sends requests, and returns the measurement. */
    static Measurement run(
            Contender contender, Requests requests, RedisCommands<String, String> server, int callers, Duration time) {
        Round round = new Round(contender, requests, server, callers, time);
        Histogram all = emptyHistogram();
        for (Histogram one : onThreads(callers, caller -> round.call())) {
            all.add(one);
        }
        return Measurement.of(all, Usage.now(server).since(round.before));
    }

    /** Touches each user once. */
    static void touchAll(Contender contender, Requests requests, int callers) {
        onThreads(callers, caller -> {
            for (int i = caller; i < requests.users().size(); i += callers) {
                contender.touch(requests.users().get(i));
            }
            return caller;
        });
    }

    private Histogram call() throws BrokenBarrierException, InterruptedException {
        Histogram answers = emptyHistogram();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        start.await();
        long end = before.nanos() + time.toNanos();
        for (long asked = System.nanoTime(); asked - end < 0; ) {
            String endpoint =
                    requests.endpoints().get(random.nextInt(requests.endpoints().size()));
            String user = requests.users().get(random.nextInt(requests.users().size()));
            if (!contender.decide(endpoint, user)) {
                throw new IllegalStateException("refused, though the limits are ample: " + endpoint + ", " + user);
            }
            long answered = System.nanoTime();
            answers.recordValue(answered - asked);
            asked = answered;
        }
        return answers;
    }

    private static Histogram emptyHistogram() {
        return new Histogram(Duration.ofMinutes(1).toNanos(), 3);
    }

    @FunctionalInterface
    private interface Caller<T> {
        T call(int caller) throws BrokenBarrierException, InterruptedException;
    }

    private static <T> List<T> onThreads(int callers, Caller<T> work) {
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Callable<T>> calls = IntStream.range(0, callers)
                    .mapToObj(caller -> (Callable<T>) () -> work.call(caller))
                    .toList();
            List<T> results = new ArrayList<>();
            for (Future<T> result : threads.invokeAll(calls)) {
                results.add(result.get());
            }
            return results;
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException("a caller failed", e);
        } finally {
            threads.shutdownNow();
        }
    }
}
