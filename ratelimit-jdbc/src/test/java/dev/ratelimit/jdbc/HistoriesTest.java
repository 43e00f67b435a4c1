package dev.ratelimit.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Random histories of all limits, on H2 and in memory: the answers are the same, in whole microseconds. */
class HistoriesTest {

    private static final int HISTORIES = Integer.getInteger("histories", 40);
    private static final int STEPS = 60;
    private static final int MAX_LIMITS = 2;

    private static TestDatabase database;

    /** What both stores have decided. */
    private record Decided(Decision here, Decision inMemory) {}

    @BeforeAll
    static void start() {
        database = TestDatabase.h2();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void decide_randomHistories_asInMemory() {
        for (int i = 0; i < HISTORIES; i++) {
            long seed = Seeds.next();
            new History(new Random(seed), "seed " + seed).run();
        }
    }

    private static final class History {

        private final Random random;
        private final String name;
        private final FakeTicker time = new FakeTicker();
        private final RateLimitStore memory =
                InMemoryStore.builder().ticker(time).build();
        private final List<Decided> refundable = new ArrayList<>();
        private final RateLimitStore store = database.store(time);

        History(Random random, String name) {
            this.random = random;
            this.name = name;
        }

        void run() {
            database.run("delete from ratelimit");
            for (int step = 0; step < STEPS; step++) {
                // no two charges at one time, which a concurrency limit in memory does not tell apart
                time.advanceNanos(
                        1000 * (1 + (random.nextBoolean() ? 0 : random.nextLong(1L << random.nextInt(1, 36)))));
                step();
            }
            memory.close();
            store.close();
        }

        private void step() {
            switch (random.nextInt(8)) {
                case 0 -> {
                    List<Charge> charges = charges();
                    same(new Decided(store.peek(charges), memory.peek(charges)));
                }
                case 1, 2 -> refund();
                case 3 -> {
                    // in memory, only as many limits are reset as the policy has
                    Policy policy = policy(random.nextInt(3));
                    if (random.nextInt(2) == 0 && policy.limits().size() == MAX_LIMITS) {
                        assertThat(store.reset(policy, "a")).isEqualTo(memory.reset(policy, "a"));
                    }
                }
                default -> {
                    List<Charge> charges = charges();
                    Decided decided = new Decided(store.decide(charges), memory.decide(charges));
                    same(decided);
                    refundable.add(decided);
                }
            }
        }

        private void refund() {
            if (!refundable.isEmpty()) {
                Decided decided = refundable.remove(random.nextInt(refundable.size()));
                List<Charge> part = decided.here.charges().stream()
                        .map(charge -> charge.policy().charge(charge.key(), random.nextLong(charge.permits() + 1)))
                        .toList();
                store.refund(decided.here, part);
                memory.refund(decided.inMemory, part);
            }
        }

        private void same(Decided decided) {
            assertThat(decided.here.admitted()).as(name).isEqualTo(decided.inMemory.admitted());
            assertThat(decided.here.limits())
                    .as(name)
                    .isEqualTo(decided.inMemory.limits().stream()
                            .map(History::inMicros)
                            .toList());
        }

        private static LimitStatus inMicros(LimitStatus status) {
            return new LimitStatus(
                    status.charge(),
                    status.limit(),
                    status.remaining(),
                    inMicros(status.retryAfterNanos()),
                    inMicros(status.nextAvailableNanos()),
                    inMicros(status.fullAfterNanos()));
        }

        private static long inMicros(long nanos) {
            return nanos == LimitAlgorithm.NEVER ? nanos : -Math.floorDiv(-nanos, 1000) * 1000;
        }

        private List<Charge> charges() {
            List<Charge> charges = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                charges.add(policy(random.nextInt(3)).charge(random.nextBoolean() ? "a" : "b", random.nextInt(8)));
            }
            return charges;
        }

        /** The policy with this number, with other limits each time. */
        private Policy policy(int number) {
            boolean concurrency = number == 0 && random.nextInt(5) > 0;
            List<Limit> limits = new ArrayList<>();
            int count = 1 + random.nextInt(MAX_LIMITS);
            while (limits.size() < count) {
                limits.add(concurrency ? Concurrency.of(permits(), period()) : rate());
            }
            Policy policy = new Policy("p" + number, limits);
            return concurrency || random.nextInt(4) > 0 ? policy : policy.withPenalty(period());
        }

        /** One of few, so that limits often stay the same. */
        private long permits() {
            return 4 + 7L * random.nextInt(3);
        }

        private Duration period() {
            return Duration.ofSeconds(1 + 9L * random.nextInt(2)).plusNanos(1234L * random.nextInt(2));
        }

        private Limit rate() {
            Rate rate = Rate.of(permits(), period());
            return switch (random.nextInt(8)) {
                case 0 -> TokenBucket.of(rate);
                case 1 -> TokenBucket.of(rate, permits());
                case 2 -> TokenBucket.of(rate, permits(), Refill.INTERVAL);
                case 3 -> FixedWindow.of(rate);
                case 4 -> FixedWindow.onClock(Rate.of(permits(), Duration.ofDays(1)), ZoneId.of("Europe/Berlin"));
                case 5 -> SlidingWindow.of(rate, random.nextBoolean() ? Rounding.EXACT : Rounding.FLOOR);
                case 6 -> SlidingLog.of(rate);
                default -> FixedWindow.onClock(rate, ZoneId.of("UTC"));
            };
        }
    }
}
