package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.faults.Fuse;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Threads share a store whose limits and clock throw at random, under locks and elsewhere. Calls about a thread's own
 * keys that did not throw are repeated on a second store, in which nothing throws: the results must be equal. The clock
 * stands still for a round; afterwards, each budget of both stores must have exactly the charges minus the refunds.
 * {@code -Dseed=} repeats the calls of each thread, {@code -Dstress.minutes=30} runs longer than a build does.
 */
class FaultStressTest {

    private static final int THREADS = 4;
    private static final int STEPS = 1_000;
    private static final int ROUNDS = 20;
    private static final int SHARED_KEYS = 6;
    private static final int OWN_KEYS = 2;
    private static final int KEYS = SHARED_KEYS + THREADS * OWN_KEYS;
    private static final long CAPACITY = 40;

    /** The maximum number of calls of limits and clocks before the next exception. */
    private static final int FARTHEST_FAULT = 40;

    private static final List<Supplier<Throwable>> THROWN =
            List.of(() -> new IllegalStateException("test"), () -> new OutOfMemoryError("test"));

    private final long seed = Seeds.next();
    private final Fuse fuse = new Fuse();
    private final Fuse.Clock clock = fuse.new Clock();
    private final InMemoryStore store =
            InMemoryStore.builder().ticker(clock).maxKeys(KEYS).build();
    private final Fuse.Clock calmClock = fuse.new Clock();
    private final InMemoryStore calm = InMemoryStore.builder().ticker(calmClock).build();
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    private final Rate rate = Rate.parse(CAPACITY + "/hour");
    private final Policy global = policy("global", TokenBucket.of(rate));
    private final List<Policy> policies = List.of(
            global,
            policy("changes", TokenBucket.of(rate)),
            policy("changes", FixedWindow.of(rate)),
            policy("changes", SlidingLog.of(rate)),
            policy("one", TokenBucket.of(rate)),
            policy("window", FixedWindow.onClock(rate, ZoneOffset.UTC)),
            policy("log", SlidingLog.of(rate)),
            policy("two", SlidingWindow.of(rate), TokenBucket.of(Rate.parse("67/hour"), CAPACITY)));

    /** The charges of this round, by policy and key. */
    private final Map<String, AtomicLong> charged = new ConcurrentHashMap<>();

    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong admissions = new AtomicLong();
    private final AtomicLong faults = new AtomicLong();
    private final AtomicLong asksOfBoth = new AtomicLong();

    private Policy policy(String name, LimitAlgorithm... limits) {
        return new Policy(name, Stream.of(limits).<Limit>map(fuse::on).toList());
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    @DisplayName("after any exception in any thread, each permit is charged to all its limits, or to none")
    void calls_throwAtRandom_chargeAllOrNothing() throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(Long.getLong("stress.minutes", 0));

        for (int round = 0; round < ROUNDS || System.nanoTime() - end < 0; round++) {
            runRound(round);
            assertExact(round);
            charged.clear();
            clock.advance(Duration.ofHours(3).toNanos());
            calmClock.advance(Duration.ofHours(3).toNanos());
            calmClock.ringOnce();
        }

        System.out.printf(
                "%d calls, %d admitted, %d threw, %d asked of both stores, seed %d%n",
                calls.get(), admissions.get(), faults.get(), asksOfBoth.get(), seed);
        assertThat(faults.get()).isGreaterThan(calls.get() / 20);
        assertThat(admissions.get()).isGreaterThan(calls.get() / 20);
        assertThat(asksOfBoth.get()).isGreaterThan(calls.get() / 20);
    }

    private void runRound(int round) throws Exception {
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Caller caller = new Caller(i, round);
            running.add(threads.submit(caller::run));
        }
        for (Future<?> caller : running) {
            assertThat(caller).as("round %d, seed %d", round, seed).succeedsWithin(Duration.ofMinutes(2));
        }
    }

    private void assertExact(int round) {
        for (Policy policy : policies) {
            for (int i = 0; i < KEYS; i++) {
                String key = key(policy, i, round);
                AtomicLong used = charged.getOrDefault(policy.name() + key, new AtomicLong());
                List<LimitStatus> limits =
                        store.peek(List.of(policy.charge(key))).limits();
                assertThat(limits)
                        .as("%s in round %d, seed %d", key, round, seed)
                        .allMatch(limit -> limit.remaining() == CAPACITY - used.get());
                if (i >= SHARED_KEYS) {
                    assertThat(calm.peek(List.of(policy.charge(key))).limits()).isEqualTo(limits);
                }
            }
            assertThat(store.evictedActive(policy.name())).isZero();
            assertThat(store.keys(policy.name()))
                    .isLessThanOrEqualTo((long) KEYS * policy.limits().size());
        }
    }

    /**
     * Some keys are the same in each round, others are new; the first are shared by all threads, the last belong to
     * one.
     */
    private String key(Policy policy, int number, int round) {
        return policy.equals(global) && number < SHARED_KEYS ? "" : "k" + number + (number % 2 == 0 ? "" : "-" + round);
    }

    /** Admitted charges, and the decision of each store that was asked. */
    private record Given(List<Charge> charges, boolean own, Map<InMemoryStore, Decision> decisions) {

        Decision by(InMemoryStore asked) {
            return Objects.requireNonNull(decisions.get(asked));
        }
    }

    /** One of the threads in a round. */
    private final class Caller {

        private final Random random;
        private final int number;
        private final int round;
        private final Deque<Given> given = new ArrayDeque<>();

        Caller(int number, int round) {
            this.random = new Random(seed + (long) round * THREADS + number);
            this.number = number;
            this.round = round;
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                call(random.nextBoolean());
            }
            calls.addAndGet(STEPS);
        }

        private void call(boolean own) {
            List<Charge> charges = charges(own);
            switch (random.nextInt(8)) {
                case 0, 1 -> count(asked(own, asked -> asked.tryCharge(charges.get(0))), charges.subList(0, 1), 1);
                case 2, 3 -> count(asked(own, asked -> asked.tryCharge(charges)), charges, 1);
                case 4, 5 -> decide(new Given(charges, own, new ConcurrentHashMap<>()));
                case 6 -> refund();
                default -> {
                    if (random.nextInt(4) == 0) {
                        asked(false, asked -> {
                            clock.ringOnce();
                            return true;
                        });
                    } else {
                        asked(own, asked -> asked.peek(charges).limits());
                    }
                }
            }
        }

        /** The result of the store, and of the other one if it is asked; {@code null} if the call throws. */
        private @Nullable Object asked(boolean ofBoth, Function<InMemoryStore, Object> call) {
            fuse.armed(1 + random.nextInt(FARTHEST_FAULT), THROWN.get(random.nextInt(THROWN.size())));
            Object answer = null;
            try {
                answer = call.apply(store);
            } catch (IllegalStateException | OutOfMemoryError thrown) {
                faults.incrementAndGet();
            }
            assertThat(fuse.disarmed()).as("seed %d", seed).isEqualTo(answer == null);
            if (answer != null && ofBoth) {
                assertThat(call.apply(calm))
                        .as("in round %d, seed %d", round, seed)
                        .isEqualTo(answer);
                asksOfBoth.incrementAndGet();
            }
            return answer;
        }

        private void decide(Given maybe) {
            Object admitted = asked(maybe.own, asked -> {
                Decision decision = asked.decide(maybe.charges);
                maybe.decisions.put(asked, decision);
                return decision.limits();
            });
            boolean counts = admitted != null && maybe.by(store).admitted();
            count(counts, maybe.charges, 1);
            if (counts) {
                given.push(maybe);
            }
        }

        private void refund() {
            if (!given.isEmpty()) {
                Given last = given.pop();
                Object refunded = asked(last.own, asked -> {
                    asked.refund(last.by(asked));
                    return true;
                });
                count(refunded, last.charges, -1);
            }
        }

        private void count(@Nullable Object counts, List<Charge> charges, int sign) {
            if (Boolean.TRUE.equals(counts)) {
                admissions.addAndGet(sign > 0 ? 1 : 0);
                for (Charge charge : charges) {
                    charged.computeIfAbsent(charge.policy().name() + charge.key(), none -> new AtomicLong())
                            .addAndGet(sign * charge.permits());
                }
            }
        }

        private List<Charge> charges(boolean own) {
            return IntStream.range(0, 1 + random.nextInt(4))
                    .mapToObj(i -> policies.get(random.nextInt(policies.size())))
                    .map(policy -> policy.charge(key(policy, keyNumber(own), round), random.nextInt(4)))
                    .toList();
        }

        private int keyNumber(boolean own) {
            return own ? SHARED_KEYS + number * OWN_KEYS + random.nextInt(OWN_KEYS) : random.nextInt(SHARED_KEYS);
        }
    }
}
