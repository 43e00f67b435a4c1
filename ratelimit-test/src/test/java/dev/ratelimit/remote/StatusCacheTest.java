package dev.ratelimit.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StatusCacheTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(Rate.parse("10/minute")));
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final long MILLI = 1_000_000;

    private final FakeTicker time = new FakeTicker();
    private final StatusCache statusCache = new StatusCache(time, 512, SECOND.toNanos());

    private static LimitStatus status(Charge charge, long retryAfterNanos, long nextNanos) {
        return new LimitStatus(charge, charge.policy().limits().get(0), 2, retryAfterNanos, nextNanos, 90_000 * MILLI);
    }

    private void refused(Charge charge, long retryAfterNanos, long nextNanos) {
        statusCache.put(charge, List.of(status(charge, retryAfterNanos, nextNanos)), statusCache.now());
    }

    private boolean refuses(Charge charge) {
        return statusCache.refusal(List.of(charge)) != null;
    }

    @Test
    void refusal_known_countsDown() {
        Charge charge = POLICY.charge("k", 5);
        refused(charge, 3000 * MILLI, 500 * MILLI);
        time.advance(Duration.ofMillis(200));

        Decision refusal = statusCache.refusal(List.of(charge));

        assertThat(refusal)
                .isEqualTo(new Decision(
                        false,
                        List.of(charge),
                        List.of(new LimitStatus(
                                charge, POLICY.limits().get(0), 2, 2800 * MILLI, 300 * MILLI, 89_800 * MILLI)),
                        null));
    }

    @Test
    void refusal_somethingMayHaveComeBack_isNone() {
        Charge charge = POLICY.charge("k", 5);
        refused(charge, 3000 * MILLI, 500 * MILLI);

        time.advance(Duration.ofMillis(499));
        assertThat(refuses(charge)).isTrue();
        time.advance(Duration.ofMillis(1));
        assertThat(refuses(charge)).isFalse();
    }

    @Test
    void refusal_olderThanTheLongest_isNone() {
        Charge charge = POLICY.charge("k", 5);
        refused(charge, 30_000 * MILLI, 30_000 * MILLI);

        time.advance(SECOND.minusNanos(1));
        assertThat(refuses(charge)).isTrue();
        time.advance(Duration.ofNanos(1));
        assertThat(refuses(charge)).isFalse();
    }

    @Test
    void refusal_never_staysNever() {
        Charge charge = POLICY.charge("k", 11);
        refused(charge, LimitAlgorithm.NEVER, 30_000 * MILLI);
        time.advance(Duration.ofMillis(10));

        assertThat(statusCache.refusal(List.of(charge)))
                .isNotNull()
                .extracting(Decision::retryAfterNanos)
                .isEqualTo(LimitAlgorithm.NEVER);
    }

    @Test
    void refusal_otherPriceKeyOrLimit_isNone() {
        refused(POLICY.charge("k", 5), 3000 * MILLI, 3000 * MILLI);

        assertThat(refuses(POLICY.charge("k", 4))).isFalse();
        assertThat(refuses(POLICY.charge("K", 5))).isFalse();
        assertThat(refuses(
                        Policy.of("p", TokenBucket.of(Rate.parse("11/minute"))).charge("k", 5)))
                .isFalse();
        assertThat(refuses(
                        Policy.of("p", TokenBucket.of(Rate.parse("10/minute"))).charge("k", 5)))
                .isTrue();
    }

    @Test
    void refusal_admitted_isNone() {
        refused(POLICY.charge("k", 5), 0, 3000 * MILLI);

        assertThat(refuses(POLICY.charge("k", 5))).isFalse();
    }

    @Test
    void refusal_switchedOff_isNone() {
        StatusCache off = new StatusCache(time, 512, 0);
        Charge charge = POLICY.charge("k", 5);
        off.put(charge, List.of(status(charge, 3000 * MILLI, 3000 * MILLI)), 0);

        assertThat(off.refusal(List.of(charge))).isNull();
    }

    private void remove(Charge charge) {
        statusCache.remove(Objects.requireNonNull(statusCache.known(charge)));
    }

    @Test
    void remove_newerStatuses_stay() {
        Charge charge = POLICY.charge("k", 5);
        refused(charge, 3000 * MILLI, 3000 * MILLI);
        StatusCache.Known older = Objects.requireNonNull(statusCache.known(charge));
        refused(charge, 2000 * MILLI, 2000 * MILLI);

        statusCache.remove(older);

        assertThat(statusCache.known(charge)).isNotNull();
    }

    @Test
    void remove_known_isNotKnownAnyMore() {
        Charge charge = POLICY.charge("k", 5);
        refused(charge, 3000 * MILLI, 3000 * MILLI);

        remove(POLICY.charge("k"));
        assertThat(statusCache.known(charge)).isNull();
        assertThat(refuses(charge)).isFalse();
    }

    @Test
    void forget_askedBefore_isNotRememberedAfterwards() {
        Charge charge = POLICY.charge("k", 5);
        long asked = statusCache.now();
        statusCache.forget(charge);

        statusCache.put(charge, List.of(status(charge, 3000 * MILLI, 3000 * MILLI)), asked);
        assertThat(refuses(charge)).isFalse();

        statusCache.put(charge, List.of(status(charge, 3000 * MILLI, 3000 * MILLI)), statusCache.now());
        assertThat(refuses(charge)).isTrue();
    }

    @Test
    void remove_forgottenBefore_remembersNoAnswerFromBeforeThat() {
        Charge charge = POLICY.charge("k", 5);
        long asked = statusCache.now();
        statusCache.forget(charge);
        refused(POLICY.charge("k", 1), 3000 * MILLI, 500 * MILLI);

        remove(charge);
        statusCache.put(charge, List.of(status(charge, 3000 * MILLI, 500 * MILLI)), asked);

        assertThat(refuses(charge)).isFalse();
    }

    @Test
    void put_fewKeys_remembersNearlyAll() {
        for (int i = 0; i < 128; i++) {
            refused(POLICY.charge("k" + i, 5), 3000 * MILLI, 3000 * MILLI);
        }

        assertThat(known(128)).isBetween(115L, 128L);
    }

    @Test
    void put_moreKeysThanFit_remembersTheLast() {
        Charge before = POLICY.charge("before", 5);
        refused(before, 3000 * MILLI, 3000 * MILLI);
        for (int i = 0; i < 20_000; i++) {
            time.advance(Duration.ofNanos(1));
            refused(POLICY.charge("k" + i, 5), 3000 * MILLI, 3000 * MILLI);
            assertThat(refuses(POLICY.charge("k" + i, 5))).isTrue();
        }

        assertThat(refuses(before)).isFalse();
        assertThat(known(20_000)).isBetween(500L, 512L);
    }

    @Test
    void put_knownKey_replacesWhatWasKnown() {
        Charge charge = POLICY.charge("k", 5);
        refused(charge, 3000 * MILLI, 3000 * MILLI);
        refused(charge, 0, 0);

        assertThat(refuses(charge)).isFalse();
    }

    private long known(int keys) {
        return IntStream.range(0, keys)
                .filter(i -> refuses(POLICY.charge("k" + i, 5)))
                .count();
    }
}
