package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
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

/** The flat tables against a map with a state for each key, by random operations. */
class KeyspaceModelTest {

    /** States of one long, of two, of more, and one that grows. */
    private static final List<Limit> LIMITS = List.of(
            TokenBucket.of(Rate.parse("5/minute")),
            TokenBucket.of(Rate.parse("67/second"), 5),
            TokenBucket.of(Rate.parse("4/minute"), 9, TokenBucket.Refill.INTERVAL),
            FixedWindow.of(Rate.parse("4/minute")),
            FixedWindow.of(Rate.parse("8/minute")),
            SlidingWindow.of(Rate.parse("6/minute")),
            SlidingLog.of(Rate.parse("20/minute")));

    private static final long OVERFLOW = -1;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final SetTicker ticker = new SetTicker();
    private final StoreClock clock = new StoreClock(ticker);

    /** What a key has: its own array, and nothing that moves. */
    private static final class State {
        private Limit limit;
        private long[] longs;

        State(Limit limit, long now) {
            this.limit = limit;
            this.longs = new long[limit.stateSize()];
            limit.clear(longs, 0, now);
        }

        boolean charge(Limit by, long permits, long now) {
            change(by, now);
            if (!limit.admits(longs, 0, permits, now)) {
                return false;
            }
            longs = limit.grow(longs, permits, now);
            limit.charge(longs, 0, permits, now);
            return true;
        }

        private void change(Limit to, long now) {
            if (!to.equals(limit)) {
                State changed = new State(to, now);
                if (!to.adopt(changed.longs, 0, limit, longs, now)) {
                    long share = to.share(limit.capacity() - remaining(now), limit.capacity());
                    if (share > 0) {
                        changed.charge(to, share, now);
                    }
                }
                limit = to;
                longs = changed.longs;
            }
        }

        long remaining(long now) {
            return limit.remaining(longs, 0, now);
        }

        boolean full(long now) {
            return limit.fullAfterNanos(longs, 0, now) == 0;
        }
    }

    @ParameterizedTest
    @CsvSource({"40, 100", "600, 1000", "3000, 300000"})
    @DisplayName("B4 with room for all, each key is charged as if it were alone, and none is lost that is not full")
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
        // a key mostly keeps its limit
        Limit limit = LIMITS.get((random.nextInt(20) == 0 ? random.nextInt(100) : key.length()) % LIMITS.size());
        long permits = 1L + random.nextInt(3);

        State state = model.computeIfAbsent(KeyHash.of(key), none -> new State(limit, clock.nanos()));
        boolean expected = state.charge(limit, permits, clock.nanos());

        assertThat(keys.tryCharge(key, limit, permits))
                .as("seed %d, %s", seed, key)
                .isEqualTo(expected);
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
    @DisplayName("D2 with room for some, who goes is not exhausted and is counted; who stays is as it was")
    void randomOperations_roomForSome_onlyWhoIsNotExhaustedGoes(int maxKeys, int keysThereAre) {
        Keyspace keys = new Keyspace(maxKeys, clock);
        Limit limit = LIMITS.get(random.nextInt(LIMITS.size()));
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
            assertThat(admitted(segment, added ? hash : Keyspace.OVERFLOW, limit, permits))
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

    private boolean admitted(Segment segment, long hash, Limit limit, long permits) {
        Table table = segment.table();
        int slot = table.find(hash);
        Table.Outcome outcome = limit.stateSize() == 1
                ? table.tryChargeWord(slot, hash, limit, permits, clock)
                : table.tryChargeLongs(slot, hash, limit, permits, clock);
        return outcome == Table.Outcome.ADMITTED;
    }

    @Test
    @DisplayName("A14 more limits than a table can name: an exhausted key stays exhausted under each, and none is lost")
    void change_moreLimitsThanATableCanName_exhaustedKeysStayExhausted() {
        List<Limit> many = IntStream.range(1, 20)
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
            Limit limit = many.get(random.nextInt(19));
            boolean admitted = keys.tryCharge("exhausted" + random.nextInt(50), limit, 1);
            assertThat(admitted).as("seed %d, %s", seed, limit).isFalse();
        }
        keys.sweep();

        assertThat(keys.size()).isEqualTo(100);
    }

    @Test
    void sweep_mostKeysAreFull_shrinksTheTable() {
        Keyspace keys = new Keyspace(4_000, clock);
        Limit limit = LIMITS.get(0);
        IntStream.range(0, 3_000).forEach(i -> keys.tryCharge("old" + i, limit, 1));
        long bytes = keys.bytes();
        ticker.advance(Duration.ofMinutes(1).toNanos());
        IntStream.range(0, 100).forEach(i -> keys.tryCharge("new" + i, limit, 5));

        keys.sweep();

        assertThat(keys.size()).isEqualTo(100);
        assertThat(keys.bytes()).isPositive().isLessThan(bytes / 10);
        assertThat(IntStream.range(0, 100)).noneMatch(i -> keys.tryCharge("new" + i, limit, 1));
        ticker.advance(Duration.ofMinutes(1).toNanos());
        keys.sweep();
        assertThat(keys.bytes()).isZero();
    }
}
