package dev.ratelimit.spring.rules.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How full the fullest keys are. */
class UtilizationTest {

    private final FakeTicker ticker = new FakeTicker();
    private final Utilization utilization = new Utilization(ticker);
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
    private final Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("10/minute")));

    private void charge(int times, Policy of, String key) {
        for (int i = 0; i < times; i++) {
            utilization.decided(store.decide(List.of(of.charge(key))).limits());
        }
    }

    private void note(String key, int used) {
        Charge charge = policy.charge(key);
        utilization.decided(List.of(new LimitStatus(charge, policy.limits().get(0), 10 - used, 0, 0, 0)));
    }

    private List<Integer> fullest() {
        return utilization.fullest("p").stream().map(Utilization.Full::perMille).toList();
    }

    @Test
    void fullest_isTheUsedPart_alsoOfARefusedKey() {
        charge(3, policy, "alice");
        charge(12, policy, "bob");

        assertThat(utilization.fullest("p"))
                .extracting(Utilization.Full::key, Utilization.Full::perMille, Utilization.Full::remaining)
                .containsExactly(tuple("bob", 1000, 0L), tuple("alice", 300, 7L));
        assertThat(utilization.ofFullest("p")).isEqualTo(1.0);
        assertThat(utilization.fullest("p").get(1).utilization()).isEqualTo(0.3);
        assertThat(utilization.ofFullest("other")).isZero();
        assertThat(utilization.fullest("other")).isEmpty();
    }

    @Test
    void fullest_isRememberedForOneMinuteMore_atItsFullest() {
        charge(9, policy, "alice");
        ticker.advance(Duration.ofMinutes(1));
        charge(1, policy, "alice");
        assertThat(utilization.fullest("p"))
                .extracting(Utilization.Full::perMille, Utilization.Full::remaining)
                .containsExactly(tuple(900, 1L));

        ticker.advance(Duration.ofMinutes(1));
        assertThat(fullest()).containsExactly(100);
        ticker.advance(Duration.ofMinutes(1));
        assertThat(fullest()).isEmpty();
        charge(5, policy, "bob");
        assertThat(fullest()).containsExactly(500);
    }

    @Test
    void limit_isTheFullestOfSeveral() {
        Policy several = Policy.of("p", FixedWindow.of(Rate.parse("100/day")), FixedWindow.of(Rate.parse("4/second")));

        charge(3, several, "alice");

        assertThat(utilization.fullest("p").get(0).limit()).hasToString("4/second (fixed-window)");
        assertThat(utilization.fullest("p").get(0).perMille()).isEqualTo(750);
    }

    @Test
    void remaining_beyondTheCapacity_isNothingUsed() {
        note("alice", -5);
        note("bob", 0);
        note("carol", 15);

        assertThat(fullest()).containsExactly(1000);
    }

    @Test
    void fullest_areTheTwentyFullest_ofAnyNumberOfKeys_inAnyOrder() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        Policy large = Policy.of("p", FixedWindow.of(Rate.parse("1000/hour")));
        List<Integer> exact = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            int used = random.nextInt(1_001);
            exact.add(used);
            Charge charge = large.charge("k" + i);
            utilization.decided(List.of(new LimitStatus(charge, large.limits().get(0), 1000 - used, 0, 0, 0)));
        }

        assertThat(fullest())
                .as("seed %s", seed)
                .containsExactlyElementsOf(exact.stream()
                        .sorted(Comparator.reverseOrder())
                        .limit(Utilization.KEYS)
                        .toList());
    }

    @Test
    void key_ofWhichLittleIsUsed_isListed_asLongAsThereIsRoom() {
        Policy large = Policy.of("p", FixedWindow.of(Rate.parse("1000/hour")));

        charge(1, large, "alice");

        assertThat(fullest()).containsExactly(1);
    }
}
