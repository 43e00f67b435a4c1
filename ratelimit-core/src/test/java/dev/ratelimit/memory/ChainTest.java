package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.Table.Outcome;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChainTest {

    private static final Rate THREE = Rate.parse("3/minute");

    private static final List<Limit> LIMITS = List.of(
            TokenBucket.of(Rate.parse("7/minute")),
            TokenBucket.of(THREE, 5, TokenBucket.Refill.INTERVAL),
            FixedWindow.of(Rate.parse("4/minute")),
            FixedWindow.onClock(Rate.parse("9/hour"), ZoneId.of("Asia/Tokyo")),
            SlidingWindow.of(Rate.parse("6/minute")),
            SlidingLog.of(Rate.parse("8/minute")));

    private final SetTicker ticker = new SetTicker();
    private final Map<Policy, List<Keyspace>> keyspaces = new HashMap<>();
    private final StoreClock clock = new StoreClock(ticker);
    private final Chain chain = new Chain(clock, this::keyspaces);

    private List<Keyspace> keyspaces(Policy policy) {
        return keyspaces.computeIfAbsent(
                policy,
                made -> made.limits().stream()
                        .map(limit -> new Keyspace(10, clock))
                        .toList());
    }

    /** The charges, of keys that the store knows by now. */
    private List<Charge> known(Charge... charges) {
        for (Charge charge : charges) {
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                Keyspace keys = keyspaces(charge.policy()).get(i);
                keys.add(KeyHash.of(charge.key()), charge.policy().limits().get(i), none -> false);
            }
        }
        return List.of(charges);
    }

    @Test
    void tryCharge_knownKeysInAnyOrder_needsNoTransaction() {
        Policy first = Policy.of("first", TokenBucket.of(THREE));
        Policy second = Policy.of("second", FixedWindow.of(THREE), SlidingLog.of(Rate.parse("9/hour")));
        List<Charge> charges = known(first.charge(), second.charge("a"), second.charge("b", 2));
        List<Charge> reversed = new ArrayList<>(charges);
        Collections.reverse(reversed);

        assertThat(chain.tryCharge(charges)).isEqualTo(Outcome.ADMITTED);
        assertThat(chain.tryCharge(reversed)).isEqualTo(Outcome.REFUSED);
        assertThat(chain.tryCharge(reversed.subList(1, 3))).isEqualTo(Outcome.ADMITTED);
        assertThat(chain.tryCharge(charges.subList(0, 2))).isEqualTo(Outcome.ADMITTED);
        assertThat(chain.tryCharge(List.of(first.charge()))).isEqualTo(Outcome.REFUSED);
        assertThat(chain.tryCharge(List.of(second.charge("a")))).isEqualTo(Outcome.REFUSED);
        assertThat(chain.tryCharge(List.of(second.charge("b")))).isEqualTo(Outcome.ADMITTED);
    }

    @Test
    void tryCharge_unusual_chargesNothingAndLeavesItToATransaction() {
        Policy policy = Policy.of("p", TokenBucket.of(THREE));
        Policy others = Policy.of("q", TokenBucket.of(THREE));
        Policy changed = Policy.of("q", TokenBucket.of(Rate.parse("4/minute")));
        known(policy.charge("k"), others.charge("k"));
        keyspaces.put(changed, keyspaces(others));

        assertThat(chain.tryCharge(List.of(others.charge("new"), policy.charge("k"))))
                .isEqualTo(Outcome.DISTURBED);
        assertThat(chain.tryCharge(List.of(others.charge("k", 0), policy.charge("k"))))
                .isEqualTo(Outcome.DISTURBED);
        assertThat(chain.tryCharge(List.of(policy.charge("k"), others.charge("k"), policy.charge("k"))))
                .isEqualTo(Outcome.DISTURBED);
        assertThat(chain.tryCharge(List.of(changed.charge("k"), policy.charge("k"))))
                .isEqualTo(Outcome.DISTURBED);

        assertThat(chain.tryCharge(List.of(policy.charge("k", 3), others.charge("k", 3))))
                .isEqualTo(Outcome.ADMITTED);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    @DisplayName("A13 random charges: yes or no is what the full answer says, and charges the same")
    void tryCharge_randomCharges_isWhatDecideSays(long seed) {
        Random random = new Random(seed);
        SetTicker time = new SetTicker();
        int maxKeys = 2 + random.nextInt(6);
        InMemoryStore yesOrNo =
                InMemoryStore.builder().ticker(time).maxKeys(maxKeys).build();
        InMemoryStore inFull =
                InMemoryStore.builder().ticker(time).maxKeys(maxKeys).build();
        int admitted = 0;
        for (int i = 0; i < 2_000; i++) {
            List<Charge> charges = charges(random, i / 500);

            boolean answer = yesOrNo.tryCharge(charges);

            assertThat(answer).isEqualTo(inFull.decide(charges).admitted());
            assertThat(yesOrNo.peek(charges)).isEqualTo(inFull.peek(charges));
            admitted += answer ? 1 : 0;
            time.advance(random.nextInt(4) * 1_000_000_000L);
            if (random.nextInt(100) == 0) {
                for (int alarms = time.alarms(); alarms > 0; alarms--) {
                    time.ring();
                }
            }
        }
        assertThat(admitted).isBetween(100, 1_900);
    }

    /** Up to four charges, in any order, under limits that are others in each phase. */
    private static List<Charge> charges(Random random, int phase) {
        List<Charge> charges = new ArrayList<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            int number = random.nextInt(3);
            Limit limit = LIMITS.get((number + phase) % LIMITS.size());
            Limit second = LIMITS.get((number + phase + 3) % LIMITS.size());
            Policy policy = number == 0 ? Policy.of("p0", limit, second) : Policy.of("p" + number, limit);
            charges.add(policy.charge(number == 1 ? "" : "k" + random.nextInt(6), random.nextInt(3)));
        }
        return charges;
    }
}
