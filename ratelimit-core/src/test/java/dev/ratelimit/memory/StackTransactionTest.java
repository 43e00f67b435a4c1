package dev.ratelimit.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StackTransactionTest {

    private static final Rate THREE = Rate.parse("3/minute");

    private static final List<Limit> LIMITS = List.of(
            TokenBucket.of(Rate.parse("7/minute")),
            TokenBucket.of(THREE, 5, TokenBucket.Refill.INTERVAL),
            FixedWindow.of(Rate.parse("4/minute")),
            FixedWindow.onClock(Rate.parse("9/hour"), ZoneId.of("Asia/Tokyo")),
            SlidingWindow.of(Rate.parse("6/minute")),
            SlidingLog.of(Rate.parse("8/minute")));

    /** A charge of no permits, which is always left to a transaction. */
    private static final Charge QUESTION =
            Policy.of("question", TokenBucket.of(THREE)).charge("", 0);

    private final SetTicker ticker = new SetTicker();
    private final Map<Policy, List<Keyspace>> keyspaces = new HashMap<>();
    private final StoreClock clock = new StoreClock(ticker);
    private final StackTransaction stack = new StackTransaction(clock, this::keyspaces, new HotSlots());

    private List<Keyspace> keyspaces(Policy policy) {
        return keyspaces.computeIfAbsent(
                policy,
                made -> made.limits().stream()
                        .map(limit -> new Keyspace(10, clock))
                        .toList());
    }

    /** The charges, whose keys the store knows by now. */
    private List<Charge> known(Charge... charges) {
        for (Charge charge : charges) {
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                Keyspace keys = keyspaces(charge.policy()).get(charge.policy().rank(i));
                keys.add(KeyHash.of(charge.key()), charge.policy().algorithms().get(i), none -> false);
            }
        }
        return List.of(charges);
    }

    @Test
    void tryCharge_knownKeysInAnyOrder_needsNoTransaction() {
        Policy first = Policy.of("first", TokenBucket.of(THREE));
        Policy second = Policy.of("second", FixedWindow.of(THREE), SlidingWindow.of(Rate.parse("9/hour")));
        List<Charge> charges = known(first.charge(), second.charge("a"), second.charge("b", 2));
        List<Charge> reversed = new ArrayList<>(charges);
        Collections.reverse(reversed);

        assertThat(stack.tryCharge(charges)).isEqualTo(Outcome.ADMITTED);
        assertThat(stack.tryCharge(reversed)).isEqualTo(Outcome.REFUSED);
        assertThat(stack.tryCharge(reversed.subList(1, 3))).isEqualTo(Outcome.ADMITTED);
        assertThat(stack.tryCharge(charges.subList(0, 2))).isEqualTo(Outcome.ADMITTED);
        assertThat(stack.tryCharge(List.of(first.charge()))).isEqualTo(Outcome.REFUSED);
        assertThat(stack.tryCharge(List.of(second.charge("a")))).isEqualTo(Outcome.REFUSED);
        assertThat(stack.tryCharge(List.of(second.charge("b")))).isEqualTo(Outcome.ADMITTED);
    }

    @Test
    void tryCharge_unusual_chargesNothingAndLeavesItToATransaction() {
        Policy policy = Policy.of("p", TokenBucket.of(THREE));
        Policy others = Policy.of("q", TokenBucket.of(THREE));
        Policy changed = Policy.of("q", TokenBucket.of(Rate.parse("4/minute")));
        known(policy.charge("k"), others.charge("k"));
        keyspaces.put(changed, keyspaces(others));
        Policy log = Policy.of("log", SlidingLog.of(THREE));
        known(log.charge("k"));

        assertThat(stack.tryCharge(List.of(others.charge("new"), policy.charge("k"))))
                .isEqualTo(Outcome.UNDECIDED);
        assertThat(stack.tryCharge(List.of(others.charge("k", 0), policy.charge("k"))))
                .isEqualTo(Outcome.UNDECIDED);
        assertThat(stack.tryCharge(List.of(policy.charge("k"), others.charge("k"), policy.charge("k"))))
                .isEqualTo(Outcome.UNDECIDED);
        assertThat(stack.tryCharge(List.of(changed.charge("k"), policy.charge("k"))))
                .isEqualTo(Outcome.UNDECIDED);
        assertThat(stack.tryCharge(List.of(policy.charge("k"), log.charge("k"))))
                .isEqualTo(Outcome.UNDECIDED);

        assertThat(stack.tryCharge(List.of(policy.charge("k", 3), others.charge("k", 3))))
                .isEqualTo(Outcome.ADMITTED);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    @DisplayName("A13 random charges: on the stack, yes or no and the full decision are those of a transaction")
    void decide_randomCharges_isWhatATransactionSays(long seed) {
        Random random = new Random(seed);
        SetTicker time = new SetTicker();
        int maxKeys = 2 + random.nextInt(6);
        List<InMemoryStore> stores = Stream.generate(() ->
                        InMemoryStore.builder().ticker(time).maxKeys(maxKeys).build())
                .limit(3)
                .toList();
        int admitted = 0;
        for (int i = 0; i < 2_000; i++) {
            List<Charge> charges = charges(random, i / 500);
            List<Charge> withQuestion =
                    Stream.concat(charges.stream(), Stream.of(QUESTION)).toList();

            Decision general = stores.get(0).decide(withQuestion);
            Decision onStack = stores.get(1).decide(charges);

            assertThat(onStack.admitted()).isEqualTo(general.admitted());
            assertThat(onStack.limits())
                    .isEqualTo(general.limits().subList(0, general.limits().size() - 1));
            // a yes or no cannot be refunded
            Decision third = random.nextInt(3) == 0 ? stores.get(2).decide(charges) : null;
            boolean yes = third == null ? stores.get(2).tryCharge(charges) : third.admitted();
            assertThat(yes).isEqualTo(general.admitted());
            assertThat(stores.get(2).peek(charges)).isEqualTo(stores.get(1).peek(charges));
            if (third != null) {
                stores.get(0).refund(general);
                stores.get(1).refund(onStack);
                stores.get(2).refund(third);
            }
            admitted += general.admitted() ? 1 : 0;
            time.advance(random.nextInt(4) * 1_000_000_000L);
            if (random.nextInt(100) == 0) {
                for (int alarms = time.alarms(); alarms > 0; alarms--) {
                    time.ring();
                }
            }
        }
        assertThat(admitted).isBetween(100, 1_900);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "a window that another thread opened after the wall clock was read is not mistaken for one before a step back")
    void tryCharge_windowIsOpenedMeanwhile_keepsItsEnd(boolean full) {
        Policy first = Policy.of("first", FixedWindow.onClock(Rate.parse("9/day"), ZoneOffset.UTC));
        Policy last = Policy.of("last", FixedWindow.onClock(Rate.parse("9/day"), ZoneOffset.UTC));
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        List<Charge> both = List.of(first.charge(), last.charge());
        long day = Duration.ofDays(1).toNanos();
        ticker.advance(day - 10);
        store.decide(both);
        ticker.advance(9);
        // after both clocks are read, when the last limit is locked and the first is not
        ticker.afterReadNext(() -> ticker.afterReadNext(() -> {
            ticker.advance(5);
            store.tryCharge(first.charge());
        }));

        assertThat(full ? store.decide(both).admitted() : store.tryCharge(both)).isTrue();

        LimitStatus status = store.peek(List.of(first.charge())).limits().get(0);
        assertThat(status.fullAfterNanos()).isEqualTo(day - 4);
        assertThat(status.remaining()).isEqualTo(7);
    }

    static Stream<Limit> windows() {
        return Stream.of(
                FixedWindow.of(Rate.parse("9/hour")),
                FixedWindow.onClock(Rate.parse("9/hour"), ZoneOffset.UTC),
                FixedWindow.onClock(Rate.parse("9/month"), ZoneOffset.UTC),
                SlidingWindow.of(Rate.parse("9/hour")));
    }

    @ParameterizedTest
    @MethodSource("windows")
    @DisplayName("a charge to a window that another thread opened after the clock was read is refunded")
    void decide_windowIsOpenedMeanwhile_canBeRefunded(Limit limit) {
        Policy first = Policy.of("first", limit);
        Policy last = Policy.of("last", limit);
        InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
        List<Charge> both = List.of(first.charge(), last.charge());
        store.decide(both);
        // the last nanosecond of January 1970, when the former windows are about to end or are over
        ticker.advance(Duration.ofDays(31).toNanos() - 1);
        Runnable meanwhile = () -> {
            ticker.advance(1);
            store.tryCharge(first.charge());
        };
        ticker.afterReadNext(((LimitAlgorithm) limit).wallClock() ? () -> ticker.afterReadNext(meanwhile) : meanwhile);

        Decision decision = store.decide(both);
        store.refund(decision);

        assertThat(decision.admitted()).isTrue();
        assertThat(store.peek(both).limits().stream().map(LimitStatus::remaining))
                .containsExactly(8L, 9L);
    }

    /** Up to four charges, in any order, with different limits in each phase. */
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
