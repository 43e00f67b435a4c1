package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the flat tables with a map that has a state per key, by random operations. */
class KeyspaceModelTest {

    /** States of one long, of two, of more, and a growing one. */
    private static final List<LimitAlgorithm> LIMITS = List.of(
            TokenBucket.of(Rate.parse("5/minute")),
            TokenBucket.of(Rate.parse("67/second"), 5),
            TokenBucket.of(Rate.parse("4/minute"), 9, TokenBucket.Refill.INTERVAL),
            FixedWindow.of(Rate.parse("4/minute")),
            FixedWindow.of(Rate.parse("8/minute")),
            SlidingWindow.of(Rate.parse("6/minute")),
            SlidingLog.of(Rate.parse("20/minute")));

    private static final long OVERFLOW = -1;

    private final long seed = Seeds.next();
    private final Random random = new Random(seed);
    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);

    /** The model's state of a key: a separate array that never moves. */
    private static final class State {
        private LimitAlgorithm limit;
        private long[] longs;

        State(LimitAlgorithm limit, long now) {
            this.limit = limit;
            this.longs = new long[limit.stateSize()];
            limit.clear(longs, 0, now);
        }

        boolean charge(LimitAlgorithm by, long permits, long now) {
            State seen = by.equals(limit) ? this : carriedOver(by, now);
            boolean admitted = by.admits(seen.longs, 0, permits, now);
            if (admitted || seen.fullAfter(now) < fullAfter(now)) {
                limit = by;
                longs = seen.longs;
            }
            if (admitted) {
                longs = by.grow(longs, 0, permits, now);
                by.charge(longs, 0, permits, now);
            }
            return admitted;
        }

        private State carriedOver(LimitAlgorithm to, long now) {
            State carried = new State(to, now);
            boolean adopted = to.adopt(carried.longs, 0, limit, longs, now);
            if (!adopted && used(now) > 0) {
                carried.longs = to.grow(carried.longs, 0, share(to, now), now);
                to.charge(carried.longs, 0, share(to, now), now);
            }
            if (limit instanceof TokenBucket && to instanceof TokenBucket) {
                // to the nanosecond, the same share of the time until it is full again
                double before = (double) fullAfter(now) / limit.replenishNanos();
                double after = (double) carried.fullAfter(now) / to.replenishNanos();
                assertThat(after).isCloseTo(before, within(3.0 / to.replenishNanos() + 3.0 / limit.replenishNanos()));
            } else {
                assertThat(carried.used(now)).isEqualTo(share(to, now));
            }
            if (limit instanceof FixedWindow && to instanceof FixedWindow && used(now) > 0) {
                assertThat(carried.fullAfter(now)).isEqualTo(fullAfter(now));
            }
            return carried;
        }

        /** Up to whole permits if the capacity shrinks, down if it grows. */
        private long share(LimitAlgorithm to, long now) {
            long parts = used(now) * to.capacity();
            long whole = limit.capacity();
            return to.capacity() > whole ? parts / whole : (parts + whole - 1) / whole;
        }

        private long used(long now) {
            return limit.capacity() - remaining(now);
        }

        private long fullAfter(long now) {
            return limit.fullAfterNanos(longs, 0, now);
        }

        long remaining(long now) {
            return limit.remaining(longs, 0, now);
        }

        boolean full(long now) {
            return fullAfter(now) == 0;
        }
    }

    @ParameterizedTest
    @CsvSource({"40, 100", "600, 1000", "3000, 300000"})
    @DisplayName("B4 with room for all, each key is charged independently, and only full keys are dropped")
    void randomOperations_roomForAll_eachKeyIsAsIfAlone(int keysThereAre, int maxKeys) {
        Keyspace keys = new Keyspace(maxKeys, clock);
        Map<Long, State> model = new HashMap<>();
        for (int i = 0; i < 30_000; i++) {
            switch (random.nextInt(100)) {
                case 0 -> ticker.advance(random.nextLong(Duration.ofSeconds(40).toNanos()));
                case 1 -> {
                    if (i % 5 == 0) {
                        keys.sweep();
                        long now = clock.nanos();
                        model.values().removeIf(state -> state.full(now));
                        assertThat(keys.size()).as("seed %d", seed).isEqualTo(model.size());
                    }
                }
                default -> charge(keys, model, keysThereAre);
            }
            if (i % 1000 == 0) {
                assertAllAsInModel(keys, model);
            }
        }
        assertThat(keys.evictedActiveCount()).as("seed %d", seed).isZero();
    }

    private void charge(Keyspace keys, Map<Long, State> model, int keysThereAre) {
        String key = "key" + random.nextInt(keysThereAre);
        // a key keeps its limit most of the time
        LimitAlgorithm limit =
                LIMITS.get((random.nextInt(20) == 0 ? random.nextInt(100) : key.length()) % LIMITS.size());
        long permits = 1L + random.nextInt(3);

        State state = model.computeIfAbsent(KeyHash.of(key), none -> new State(limit, clock.nanos()));
        boolean expected = state.charge(limit, permits, clock.nanos());

        assertThat(tryCharge(keys, key, limit, permits))
                .as("seed %d, %s", seed, key)
                .isEqualTo(expected);
    }

    private boolean tryCharge(Keyspace keys, String key, LimitAlgorithm limit, long permits) {
        Outcome outcome = keys.tryCharge(key, limit, permits);
        if (outcome != Outcome.OTHER_LIMIT) {
            return outcome == Outcome.ADMITTED;
        }
        Transaction transaction = new Transaction(clock);
        transaction.add(Policy.of("p", limit).charge(key, permits), List.of(keys));
        return transaction.tryCharge();
    }

    private void assertAllAsInModel(Keyspace keys, Map<Long, State> model) {
        long now = clock.nanos();
        model.forEach((hash, state) -> {
            Table table = keys.segment(hash).find(hash);
            if (table == null) {
                assertThat(state.full(now)).as("seed %d", seed).isTrue();
            } else {
                int slot = table.find(hash);
                long remaining = table.limit(slot).remaining(table.state(slot), table.offset(slot), now);
                assertThat(remaining).as("seed %d", seed).isEqualTo(state.remaining(now));
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"1, 5", "10, 60", "100, 1000", "5000, 12000"})
    @DisplayName("D2 with room for some, evicted keys are not exhausted and are counted; other keys are unchanged")
    void randomOperations_roomForSome_onlyWhoIsNotExhaustedGoes(int maxKeys, int keysThereAre) {
        Keyspace keys = new Keyspace(maxKeys, clock);
        LimitAlgorithm limit = LIMITS.get(random.nextInt(LIMITS.size()));
        Map<Long, State> model = new TreeMap<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(500) == 0) {
                ticker.advance(random.nextLong(Duration.ofSeconds(20).toNanos()));
            }
            long hash = KeyHash.of("key" + random.nextInt(keysThereAre));
            long permits = 1L + random.nextInt(2);
            long before = keys.evictedFullCount() + keys.evictedActiveCount();

            boolean known = model.containsKey(hash);
            boolean added = known || keys.add(hash, limit, none -> false);

            if (keys.evictedFullCount() + keys.evictedActiveCount() > before) {
                removeGone(keys, model);
            }
            State state = model.computeIfAbsent(added ? hash : OVERFLOW, none -> new State(limit, clock.nanos()));
            Segment segment = added ? keys.segment(hash) : keys.overflow();
            boolean expected = state.charge(limit, permits, clock.nanos());
            assertThat(admitted(segment, added ? hash : Keyspace.overflowOf(limit), limit, permits))
                    .as("seed %d, %s", seed, limit)
                    .isEqualTo(expected);
            assertThat(keys.size())
                    .as("seed %d", seed)
                    .isLessThanOrEqualTo(maxKeys)
                    .isEqualTo(model.size() - (model.containsKey(OVERFLOW) ? 1 : 0));
        }
    }

    private void removeGone(Keyspace keys, Map<Long, State> model) {
        long now = clock.nanos();
        model.entrySet().removeIf(entry -> {
            boolean gone =
                    entry.getKey() != OVERFLOW && keys.segment(entry.getKey()).find(entry.getKey()) == null;
            if (gone) {
                assertThat(entry.getValue().remaining(now)).as("seed %d", seed).isPositive();
            }
            return gone;
        });
    }

    private boolean admitted(Segment segment, long hash, LimitAlgorithm limit, long permits) {
        Table table = segment.table();
        int slot = table.find(hash);
        Outcome outcome = limit.stateSize() == 1
                ? table.tryCharge(slot, hash, limit, permits, clock)
                : table.tryChargeLocked(slot, hash, limit, permits, clock);
        return outcome == Outcome.ADMITTED;
    }

    @Test
    @DisplayName("A14 more limits than a table can name: an exhausted key stays exhausted under each, and none is lost")
    void change_moreLimitsThanATableCanName_exhaustedKeysStayExhausted() {
        List<LimitAlgorithm> many = IntStream.range(1, 20)
                .mapToObj(i -> i % 3 == 0
                        ? SlidingLog.of(Rate.parse(i + "/hour"))
                        : i % 3 == 1
                                ? TokenBucket.of(Rate.parse(i + "/hour"))
                                : FixedWindow.of(Rate.parse(i + "/hour")))
                .toList();
        Keyspace keys = new Keyspace(1_000, clock);
        IntStream.range(0, 50).forEach(i -> keys.tryCharge("exhausted" + i, many.get(i % 19), 1L + i % 19));
        IntStream.range(0, 50).forEach(i -> keys.tryCharge("used" + i, many.get(18), 1));

        for (int i = 0; i < 5_000; i++) {
            LimitAlgorithm limit = many.get(random.nextInt(19));
            boolean admitted = tryCharge(keys, "exhausted" + random.nextInt(50), limit, 1);
            assertThat(admitted).as("seed %d, %s", seed, limit).isFalse();
        }
        keys.sweep();

        assertThat(keys.size()).isEqualTo(100);
    }

    @Test
    void sweep_mostKeysAreFull_shrinksTheTable() {
        Keyspace keys = new Keyspace(4_000, clock);
        LimitAlgorithm limit = LIMITS.get(0);
        IntStream.range(0, 3_000).forEach(i -> keys.tryCharge("old" + i, limit, 1));
        long bytes = keys.bytes();
        ticker.advance(Duration.ofMinutes(1).toNanos());
        IntStream.range(0, 100).forEach(i -> keys.tryCharge("new" + i, limit, 5));

        keys.sweep();

        assertThat(keys.size()).isEqualTo(100);
        assertThat(keys.bytes()).isPositive().isLessThan(bytes / 10);
        assertThat(IntStream.range(0, 100)).noneMatch(i -> tryCharge(keys, "new" + i, limit, 1));
        ticker.advance(Duration.ofMinutes(1).toNanos());
        keys.sweep();
        assertThat(keys.bytes()).isZero();
    }
}
