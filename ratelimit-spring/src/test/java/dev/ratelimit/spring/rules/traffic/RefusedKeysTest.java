package dev.ratelimit.spring.rules.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The keys that were refused last, in bounded memory: what is remembered is true, and what is not is said. */
class RefusedKeysTest {

    private static final Instant START = Instant.parse("2027-01-01T00:00:00Z");

    private final FakeTicker ticker = new FakeTicker(START);
    private final RefusedKeys refused =
            new RefusedKeys(new RefusedKeys.Moment(0, START.toEpochMilli()), this::minute, ticker);

    private int minute() {
        return (int) TimeUnit.NANOSECONDS.toMinutes(ticker.nanos());
    }

    private Instant now() {
        return Instant.ofEpochMilli(TimeUnit.NANOSECONDS.toMillis(ticker.epochNanos()));
    }

    private RefusedKeys.Remembered of(String key) {
        return Objects.requireNonNull(refused.of(key), key);
    }

    private void refuse(int times, String key) {
        for (int i = 0; i < times; i++) {
            refused.refused(key);
        }
    }

    @Test
    void refusals_areCountedByMinute_sinceTheStart() {
        refuse(2, "alice");
        ticker.advance(Duration.ofMinutes(3));
        refuse(5, "alice");
        ticker.advance(Duration.ofMinutes(1));

        assertThat(of("alice").byMinute()).containsExactly(2, 0, 0, 5, 0);
        assertThat(of("alice").since()).isEqualTo(START);
        ticker.advance(Duration.ofMinutes(56));
        assertThat(of("alice").byMinute()).hasSize(60).startsWith(0, 0, 5, 0).endsWith(0);
        ticker.advance(Duration.ofMinutes(3));
        assertThat(of("alice").byMinute()).hasSize(60).containsOnly(0);
    }

    @Test
    void refusals_afterAnHourOrMore_doNotCountThoseOfEarlierHours() {
        refuse(7, "alice");
        ticker.advance(Duration.ofMinutes(60));
        refuse(1, "alice");
        assertThat(of("alice").byMinute()).hasSize(60).endsWith(0, 1).startsWith(0, 0);

        ticker.advance(Duration.ofMinutes(59));
        refuse(2, "alice");
        assertThat(of("alice").byMinute()).startsWith(1, 0).endsWith(0, 2);
        ticker.advance(Duration.ofHours(100));
        refuse(3, "alice");
        assertThat(of("alice").byMinute().stream().mapToInt(Integer::intValue).sum())
                .isEqualTo(3);
    }

    @Test
    void last_isWhatTheCallerWasTold() {
        refuse(1, "alice");
        ticker.advance(Duration.ofSeconds(10));
        refuse(1, "alice");
        assertThat(of("alice").last()).isEqualTo(new RefusedKeys.Refusal(START.plusSeconds(10), null, null));

        refused.told("alice", "GET /orders/{id}", 30L);
        assertThat(of("alice").last())
                .isEqualTo(new RefusedKeys.Refusal(START.plusSeconds(10), "GET /orders/{id}", 30L));
        refused.told("alice", "GET /orders/{id}", null);
        assertThat(of("alice").last().retryAfterSeconds()).isNull();

        refused.told("nobody", "GET /orders/{id}", 30L);
        assertThat(refused.of("nobody")).isNull();
        refuse(1, "alice");
        assertThat(of("alice").last().endpoint()).isNull();
    }

    @Test
    void key_thatWasRefusedLongestAgo_isForgotten_andThatIsSaid() {
        refuse(1, "first");
        ticker.advance(Duration.ofMinutes(2));
        IntStream.range(1, RefusedKeys.KEYS).forEach(i -> refuse(1, "new" + i));
        assertThat(refused.complete()).isEqualTo(START);
        assertThat(of("first").byMinute()).containsExactly(1, 0, 0);

        ticker.advance(Duration.ofMinutes(1));
        refuse(1, "one-more");
        refuse(1, "another");

        assertThat(refused.of("first")).isNull();
        assertThat(refused.of("new1")).isNull();
        assertThat(refused.complete()).isEqualTo(START.plusSeconds(120));
        assertThat(of("one-more").since()).isEqualTo(START);
        assertThat(of("another").since()).isEqualTo(START.plusSeconds(120));
        assertThat(of("another").byMinute()).containsExactly(0, 1);
        assertThat(of("new2").byMinute()).containsExactly(0, 0, 1, 0);
        assertThat(refused.keys()).hasSize(RefusedKeys.KEYS).startsWith("another", "one-more");
    }

    @Test
    void lookup_doesNotKeepAKey() {
        IntStream.range(0, RefusedKeys.KEYS).forEach(i -> refuse(1, "old" + i));

        assertThat(refused.of("old0")).isNotNull();
        refuse(1, "new");

        assertThat(refused.of("old0")).isNull();
        assertThat(refused.of("old1")).isNotNull();
    }

    @Test
    void millionKeys_leaveTheThousandThatWereRefusedLast() {
        for (int i = 0; i < 1_000_000; i++) {
            ticker.advance(Duration.ofMillis(1));
            refused.refused("key" + i);
        }

        List<String> keys = refused.keys();

        assertThat(keys).hasSize(1_000).startsWith("key999999").endsWith("key999000");
        assertThat(refused.complete()).isEqualTo(START.plusMillis(999_000));
    }

    /** A refusal, as an exact log has it. */
    private record Logged(String key, int minute, Instant time) {}

    @Test
    void remembered_ofAZipfLoad_isWhatAnExactLogSays() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        List<Logged> log = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            ticker.advance(Duration.ofMillis(random.nextInt(50)));
            // of 100,000 callers, the first is refused twice as often as the second, and so on
            String key = "k" + (int) Math.pow(100_000, random.nextDouble());
            refused.refused(key);
            log.add(new Logged(key, minute(), now()));
        }
        Map<String, List<Logged>> byKey = new HashMap<>();
        log.forEach(one ->
                byKey.computeIfAbsent(one.key(), key -> new ArrayList<>()).add(one));

        byKey.forEach((key, all) -> check(key, all, seed));

        assertThat(refused.keys()).as("seed %s", seed).contains("k1", "k2", "k3", "k10");
        assertThat(of("k1").since()).isEqualTo(START);
    }

    private void check(String key, List<Logged> all, long seed) {
        RefusedKeys.Remembered known = refused.of(key);
        Instant last = all.get(all.size() - 1).time();
        if (known == null) {
            assertThat(last).as("seed %s, %s", seed, key).isBeforeOrEqualTo(refused.complete());
            return;
        }
        int now = minute();
        int first = now - known.byMinute().size() + 1;
        // the moment itself belongs to whoever was forgotten for it
        int[] exact = new int[known.byMinute().size()];
        all.stream()
                .filter(one -> one.minute() >= first)
                .filter(one ->
                        one.time().isAfter(known.since()) || known.since().equals(START))
                .forEach(one -> exact[one.minute() - first]++);
        assertThat(known.last().time()).isEqualTo(last);
        assertThat(known.byMinute())
                .as("seed %s, %s", seed, key)
                .containsExactlyElementsOf(IntStream.of(exact).boxed().toList());
    }
}
