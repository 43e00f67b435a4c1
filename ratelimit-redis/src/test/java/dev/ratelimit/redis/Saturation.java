package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that requests as many permits of some keys as possible and records its admissions. It reports that it is
 * ready and starts when it reads a line; arguments are the server's port, the duration in milliseconds, the file, and
 * the offset of its clock in seconds.
 *
 * <p>The first line of the file contains the first and the last time and the numbers of decisions and failures; each
 * further line is an admission: the number of the policy, and when the call started and returned. Times are
 * {@link System#nanoTime}, which all processes of a Linux machine share.
 */
final class Saturation {

    static final long PERMITS = 200;
    static final long WINDOW_NANOS = 1_000_000_000;

    /** Each with {@link #PERMITS} in a {@link #WINDOW_NANOS window}. */
    static final List<Policy> POLICIES = policies(new Rate(PERMITS, Duration.ofNanos(WINDOW_NANOS)));

    private static final int THREADS = 3;

    private final RedisStore store;
    private final Queue<String> admissions = new ConcurrentLinkedQueue<>();
    private final AtomicLong decisions = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();

    private Saturation(RedisStore store) {
        this.store = store;
    }

    private static List<Policy> policies(Rate rate) {
        return List.of(
                Policy.of("token-bucket", TokenBucket.of(rate)),
                Policy.of("fixed-window", FixedWindow.of(rate)),
                Policy.of("sliding-window", SlidingWindow.of(rate)),
                Policy.of("sliding-log", SlidingLog.of(rate)));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Integer.parseInt(arguments[0])));
        RedisStore store = RedisStore.builder(client)
                .ticker(ticker(Long.parseLong(arguments[3]) * 1_000_000_000))
                .deadline(Duration.ofSeconds(5))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .build();
        POLICIES.forEach(policy -> warm(store, policy.charge("warm")));
        System.out.println("ready");
        if (System.in.read() >= 0) {
            new Saturation(store).run(Duration.ofMillis(Long.parseLong(arguments[1])), Path.of(arguments[2]));
        }
        store.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
    }

    /** On a busy machine, the first connection takes longer than a decision waits. */
    private static void warm(RedisStore store, Charge charge) {
        for (boolean answered = false; !answered; ) {
            try {
                store.peek(List.of(charge));
                answered = true;
            } catch (StoreUnavailableException e) {
                LockSupport.parkNanos(100_000_000);
            }
        }
    }

    /** The system's time with another wall clock. */
    private static Ticker ticker(long offsetNanos) {
        Ticker system = Ticker.system();
        return new Ticker() {
            @Override
            public long nanos() {
                return system.nanos();
            }

            @Override
            public long epochNanos() {
                return system.epochNanos() + offsetNanos;
            }
        };
    }

    private void run(Duration time, Path file) throws IOException, InterruptedException {
        long first = System.nanoTime();
        long last = first + time.toNanos();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> saturate(last));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(file))) {
            out.println(first + " " + last + " " + decisions + " " + failures);
            admissions.forEach(out::println);
        }
    }

    private void saturate(long last) {
        for (int i = 0; System.nanoTime() - last < 0; i++) {
            int policy = i % POLICIES.size();
            Charge charge = POLICIES.get(policy).charge("hot");
            long start = System.nanoTime();
            try {
                if (store.tryCharge(charge)) {
                    admissions.add(policy + " " + start + " " + System.nanoTime());
                }
                decisions.incrementAndGet();
            } catch (RuntimeException e) {
                failures.incrementAndGet();
            }
        }
    }
}
