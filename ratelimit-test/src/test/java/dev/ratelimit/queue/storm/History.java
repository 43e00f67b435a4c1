package dev.ratelimit.queue.storm;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.queue.storm.Step.Kind;
import dev.ratelimit.queue.storm.Step.Want;
import dev.ratelimit.storm.Shrinkable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What happens in one run.
 *
 * @param order what the order of tasks and of other threads is drawn from
 */
record History(long order, Setup setup, List<Step> steps) implements Shrinkable<Step, History> {

    /**
     * A policy, and how callers wait for it.
     *
     * @param waiting {@code null} if nobody may
     */
    record Waited(Policy policy, @Nullable Waiting waiting) {}

    /**
     * The queue and what it runs on.
     *
     * @param oneIn at one in so many calls of foreign code, another thread does the next step meanwhile
     * @param prompt whether tasks and alarms run as soon as they can
     * @param tickNanos how far the clock moves at each reading
     * @param fault the call of foreign code that fails; 0 if none does
     */
    record Setup(List<Waited> policies, int oneIn, boolean prompt, long tickNanos, int fault) {}

    private static final long MILLI = 1_000_000;
    private static final List<Long> TIMES = List.of(
            MILLI,
            9 * MILLI,
            11 * MILLI,
            250 * MILLI,
            500 * MILLI,
            700 * MILLI,
            1_000 * MILLI,
            1_500 * MILLI,
            3_000 * MILLI,
            8_000 * MILLI);
    private static final int MAX_STEPS = 24;

    /** With fewer steps, others do them at other places: so many orders are tried. */
    private static final int ORDERS = 40;

    @Override
    public History with(List<Step> others) {
        return new History(order, setup, others);
    }

    @Override
    public Stream<History> reordered() {
        return LongStream.range(1, ORDERS).mapToObj(other -> new History(other, setup, steps));
    }

    /** Draws a history. */
    static History draw(long seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        List<Waited> policies = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            boolean waits = i == 0 || random.nextInt(6) > 0;
            policies.add(new Waited(new Policy("p" + i, limits(random)), waits ? waiting(random) : null));
        }
        int fault = random.nextInt(4) == 0 ? 1 + random.nextInt(40) : 0;
        Setup setup = new Setup(
                List.copyOf(policies),
                one(random, List.of(1, 2, 4, 10, 1_000)),
                random.nextInt(4) > 0,
                one(random, List.of(0L, 1L, 40L)),
                fault);
        int keys = 1 + random.nextInt(3);
        List<Step> steps = new ArrayList<>();
        int length = 3 + random.nextInt(MAX_STEPS - 2);
        for (int id = 0; id < length; id++) {
            steps.add(step(random, id, setup, keys));
        }
        return new History(seed, setup, List.copyOf(steps));
    }

    private static List<Limit> limits(Random random) {
        int count = 1 + random.nextInt(3) / 2;
        boolean held = random.nextInt(3) == 0;
        List<Limit> limits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            limits.add(held ? concurrency(random) : rate(random));
        }
        return List.copyOf(limits);
    }

    private static Limit concurrency(Random random) {
        return Concurrency.of(
                1 + random.nextInt(3), one(random, List.of(Duration.ofSeconds(2), Duration.ofSeconds(90))));
    }

    private static Limit rate(Random random) {
        int permits = 1 + random.nextInt(4);
        Rate rate = Rate.of(permits, Duration.ofSeconds(1 + random.nextInt(3)));
        return switch (random.nextInt(6)) {
            case 0, 1 -> TokenBucket.of(rate);
            case 2 -> TokenBucket.of(rate, 1 + random.nextInt(4));
            case 3 -> FixedWindow.of(rate);
            case 4 -> SlidingWindow.of(rate);
            default -> SlidingLog.of(rate);
        };
    }

    private static Waiting waiting(Random random) {
        Duration maxWait = one(
                random,
                List.of(
                        Duration.ofMillis(400),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(20)));
        return new Waiting(
                maxWait,
                one(random, List.of(0, 1, 2, 3, 3, 4, 50, 50)),
                random.nextInt(4) == 0 ? Order.NEWEST_FIRST : Order.OLDEST_FIRST);
    }

    private static Step step(Random random, int id, Setup setup, int keys) {
        Kind kind = one(random, Kind.OFTEN);
        if (kind == Kind.CLOSE && random.nextInt(3) > 0) {
            kind = Kind.ACQUIRE;
        }
        int count = switch (kind) {
            case ACQUIRE, TAKE -> 1 + random.nextInt(3) / 2;
            case RESET, WAKE -> 1;
            default -> 0;
        };
        List<Want> wants = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int permits = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 1;
            wants.add(new Want(random.nextInt(setup.policies.size()), "k" + random.nextInt(keys), permits));
        }
        long number = kind == Kind.ADVANCE ? one(random, TIMES) : random.nextInt(100);
        return new Step(id, kind, List.copyOf(wants), number);
    }

    private static <T> T one(Random random, List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
