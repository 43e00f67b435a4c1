package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the {@link RateLimitStoreContract} on policies with a penalty. */
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
abstract class StorePenaltyContract extends StoreChargeContract {

    /** Longer than any limit here takes to be full. */
    private static final Duration PENALTY = Duration.ofSeconds(5);

    private static Policy penalized(Limit... limits) {
        return Policy.of("p", limits).withPenalty(PENALTY);
    }

    /** A policy that refuses the key from now on. */
    private Policy refusing(Limit limit) {
        Policy policy = penalized(limit);
        limiter.decide(policy.charge("k", limit.capacity()));
        limiter.decide(policy.charge("k"));
        return policy;
    }

    @ParameterizedTest
    @MethodSource("waysAndLimits")
    void charge_refused_staysRefusedForThePenaltyHoweverOften(Way way, Limit limit) {
        Policy policy = penalized(limit);
        limiter.decide(policy.charge("k", limit.capacity()));
        assertThat(way.charge(store, policy.charge("k", 1))).isFalse();

        for (int i = 1; i < 20; i++) {
            ticker.advance(PENALTY.dividedBy(20));
            assertThat(way.charge(store, policy.charge("k", i))).isFalse();
        }
        ticker.advance(PENALTY.dividedBy(20).minus(resolution()));
        assertThat(way.charge(store, policy.charge("k", 1))).isFalse();
        ticker.advance(resolution());

        assertThat(way.charge(store, policy.charge("k", limit.capacity()))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("waysAndLimits")
    void charge_moreThanTheCapacity_startsThePenaltyOfANewKey(Way way, Limit limit) {
        Policy policy = penalized(limit);

        assertThat(way.charge(store, policy.charge("k", limit.capacity() + 1))).isFalse();

        ticker.advance(PENALTY.minus(resolution()));
        assertThat(way.charge(store, policy.charge("k", 1))).isFalse();
        assertThat(way.charge(store, policy.charge("other", 1))).isTrue();
        ticker.advance(resolution());
        assertThat(way.charge(store, policy.charge("k", limit.capacity()))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_penalty_isInTheStatus(Limit limit) {
        Policy policy = penalized(limit);
        limiter.decide(policy.charge("k", limit.capacity()));

        Decision refused = limiter.decide(policy.charge("k"));
        ticker.advance(Duration.ofSeconds(3));

        assertThat(refused).isRefusedBy("p").hasRemaining(0).hasRetryAfter(PENALTY);
        LimitStatus later =
                limiter.peek(policy.charge("k", limit.capacity())).limits().get(0);
        assertThat(List.of(
                        later.remaining(), later.retryAfterNanos(), later.nextAvailableNanos(), later.fullAfterNanos()))
                .containsExactly(
                        0L,
                        Duration.ofSeconds(2).toNanos(),
                        Duration.ofSeconds(2).toNanos(),
                        Duration.ofSeconds(2).toNanos());
        assertThat(limiter.peek(policy.charge("k", limit.capacity() + 1)))
                .isRefused()
                .isNever();
        assertThat(limiter.decide(policy.charge("k", 0))).isAdmitted().hasRemaining(0);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_limitRefusesForLonger_isNotProlonged(Limit limit) {
        Policy policy = Policy.of("p", limit).withPenalty(Duration.ofMillis(1));
        limiter.decide(policy.charge("k", limit.capacity()));
        long wait = limiter.decide(policy.charge("k", tenths(limit, 2))).retryAfterNanos();
        long alone = limiter.peek(Policy.of("p", limit).charge("k", tenths(limit, 2)))
                .retryAfterNanos();
        assertThat(wait).isEqualTo(alone).isGreaterThan(Duration.ofMillis(1).toNanos());

        ticker.advanceNanos(wait - resolution().toNanos());
        assertThat(limiter.decide(policy.charge("k", tenths(limit, 2))))
                .isRefused()
                .hasRetryAfter(resolution());
        ticker.advance(resolution());
        assertThat(limiter.decide(policy.charge("k", tenths(limit, 2)))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_admittedSince_startsAgain(Limit limit) {
        Policy policy = refusing(limit);
        ticker.advance(PENALTY);
        assertThat(limiter.decide(policy.charge("k", limit.capacity()))).isAdmitted();

        assertThat(limiter.decide(policy.charge("k"))).isRefused().hasRetryAfter(PENALTY);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_fullSince_startsAgain(Limit limit) {
        Policy policy = refusing(limit);
        ticker.advance(PENALTY);

        assertThat(limiter.decide(policy.charge("k", limit.capacity() + 1)))
                .isRefused()
                .isNever();

        assertThat(limiter.peek(policy.charge("k"))).isRefused().hasRetryAfter(PENALTY);
    }

    @ParameterizedTest
    @MethodSource("severalAndLimits")
    void charge_onlyAskedOrRefusedByAnother_startsNoPenalty(Several way, Limit limit) {
        Policy policy = penalized(limit);
        Policy shut = Policy.of("shut", FixedWindow.of(Rate.parse("1/hour")));
        limiter.decide(policy.charge("k", limit.capacity()), shut.charge());

        limiter.peek(policy.charge("k", limit.capacity() + 1));
        charge(way, List.of(policy.charge("k", 0), shut.charge()));
        ticker.advance(Duration.ofSeconds(2));
        charge(way, List.of(policy.charge("k"), shut.charge()));
        charge(way, List.of(shut.charge(), policy.charge("k")));

        assertThat(limiter.decide(policy.charge("k", limit.capacity()))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("severalAndLimitsOfTen")
    void charge_anotherRefusesToo_startsThePenaltyOfEach(Several way, Limit limit) {
        Policy policy = penalized(limit);
        Policy other = Policy.of("q", limit, TokenBucket.of(TEN_A_SECOND)).withPenalty(PENALTY.multipliedBy(2));
        List<Charge> charges = List.of(policy.charge("k"), policy.charge("l"), other.charge("m"));
        limiter.decide(policy.charge("k", 10), policy.charge("l", 4), other.charge("m", 10));

        assertThat(charge(way, charges)).isFalse();

        assertThat(store.peek(charges).limits())
                .extracting(LimitStatus::retryAfterNanos)
                .startsWith(PENALTY.toNanos(), 0L, 2 * PENALTY.toNanos());
    }

    @ParameterizedTest
    @MethodSource("waysAndLimitsOfTen")
    void charge_anyLimitOfThePolicyRefuses_startsItsPenalty(Way way, Limit limit) {
        // the other one has the longer period, and carries the penalty, wherever it is listed
        Limit tight = FixedWindow.of(Rate.parse("3/500ms"));
        for (List<Limit> limits : List.of(List.of(limit, tight), List.of(tight, limit))) {
            Policy policy = new Policy("p" + limits.indexOf(tight), limits).withPenalty(PENALTY);
            assertThat(way.charge(store, policy.charge("k", 3))).isTrue();
            assertThat(way.charge(store, policy.charge("k", 1))).isFalse();

            // refused for other reasons, too: that does not start it again
            ticker.advance(PENALTY.minus(resolution()));
            assertThat(way.charge(store, policy.charge("k", 11))).isFalse();
            assertThat(way.charge(store, policy.charge("k", 1))).isFalse();
            ticker.advance(resolution());
            assertThat(way.charge(store, policy.charge("k", 3))).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reset_penalty_isOver(Limit limit) {
        Policy policy = refusing(limit);

        limiter.reset(policy, "k");

        assertThat(limiter.decide(policy.charge("k", limit.capacity()))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void refund_penalty_goesOn(Limit limit) {
        Policy policy = penalized(limit);
        Reservation reservation = limiter.reserve(policy.charge("k", limit.capacity()));
        limiter.decide(policy.charge("k"));

        assertThat(reservation.refund()).isTrue();

        assertThat(limiter.decide(policy.charge("k"))).isRefused().hasRetryAfter(PENALTY);
        assertThat(limiter.peek(Policy.of("p", limit).charge("k"))).hasRemaining(limit.capacity());
    }

    @ParameterizedTest
    @MethodSource("limits")
    void settle_moreThanIsLeft_takesItAndStartsNoPenalty(Limit limit) {
        Policy policy = penalized(limit);

        limiter.reserve(policy.charge("k", 1)).settle(50);

        assertThat(limiter.peek(Policy.of("p", limit).charge("k", 0))).hasRemaining(0);
        assertThat(limiter.peek(policy.charge("k")).retryAfterNanos()).isBetween(1L, PENALTY.toNanos() - 1);
    }

    @ParameterizedTest
    @MethodSource("penalizedPlans")
    void decide_limitChanged_keepsThePenaltyUnlessItIsRemoved(Limit limit, Limit other) {
        refusing(limit);
        ticker.advance(Duration.ofSeconds(2));

        assertThat(limiter.peek(penalized(other).charge("k"))).isRefused().hasRetryAfter(Duration.ofSeconds(3));
        assertThat(limiter.peek(changed(other, 9).charge("k"))).isRefused().hasRetryAfter(Duration.ofSeconds(3));
        assertThat(limiter.peek(changed(other, 4).charge("k"))).isRefused().hasRetryAfter(Duration.ofSeconds(2));
        assertThat(limiter.decide(changed(other, 4).charge("k"))).isRefused().hasRetryAfter(Duration.ofSeconds(2));
        ticker.advance(Duration.ofSeconds(1));
        assertThat(limiter.decide(changed(other, 4).charge("k"))).isRefused().hasRetryAfter(Duration.ofSeconds(1));
        assertThat(limiter.decide(Policy.of("p", other).charge("k", other.capacity())))
                .isAdmitted();
    }

    @Test
    void decide_limitsComeAndGoAndMove_thePenaltyGoesOn() {
        List<Limit> all = Stream.of(
                        limits(),
                        limits(Rate.parse("30/3s")),
                        Stream.of(FixedWindow.of(Rate.parse("5/hour")), TokenBucket.of(Rate.parse("100/day"))))
                .<Limit>flatMap(limits -> limits)
                .toList();
        for (int seed = 0; seed < 100; seed++) {
            changeLimitsDuringThePenalty(seed, all);
        }
    }

    private void changeLimitsDuringThePenalty(int seed, List<Limit> all) {
        Random random = new Random(seed);
        String name = "policy of seed " + seed;
        List<Limit> limits = new ArrayList<>(List.of(all.get(random.nextInt(all.size()))));
        Policy policy = new Policy(name, limits).withPenalty(PENALTY);
        limiter.decide(policy.charge("k", random.nextInt(2) * limits.get(0).capacity()));
        assertThat(limiter.decide(policy.charge("k", 1 + limits.get(0).capacity())))
                .isRefused();

        Duration left = PENALTY;
        for (int i = 0; i < 8; i++) {
            change(limits, all, random);
            Duration step = Duration.ofMillis(1 + random.nextInt(500));
            ticker.advance(step);
            left = left.minus(step);
            policy = new Policy(name, limits).withPenalty(PENALTY);
            int permits = 1 + random.nextInt(3);
            assertThat(limiter.tryAcquire(policy.charge("k", permits)))
                    .as("%s: %s", name, limits)
                    .isFalse();
            assertThat(limiter.decide(policy.charge("k")).retryAfterNanos())
                    .as("%s: %s", name, limits)
                    .isGreaterThanOrEqualTo(left.toNanos());
        }
        ticker.advance(left);
        assertThat(limiter.peek(policy.charge("k")).retryAfterNanos())
                .as("%s: %s", name, limits)
                .isEqualTo(limiter.peek(new Policy(name, limits).charge("k")).retryAfterNanos());
    }

    /** Adds, removes or replaces a limit, or lists them in another order. */
    private static void change(List<Limit> limits, List<Limit> all, Random random) {
        Limit any = all.get(random.nextInt(all.size()));
        int place = random.nextInt(limits.size());
        switch (random.nextInt(4)) {
            case 0 -> limits.add(place, any);
            case 1 -> limits.set(place, any);
            case 2 -> limits.subList(place, limits.size() - 1).clear();
            default -> Collections.shuffle(limits, random);
        }
    }

    private static Policy changed(Limit limit, long seconds) {
        return Policy.of("p", limit).withPenalty(Duration.ofSeconds(seconds));
    }

    /** The limits of two plans for each algorithm. */
    Stream<Arguments> penalizedPlans() {
        return limits().flatMap(one -> limits(Rate.parse("20/second")).map(other -> Arguments.of(one, other)));
    }

    @ParameterizedTest
    @MethodSource("penalizedPlans")
    void decide_penaltyAdded_startsAtTheNextRefusal(Limit limit, Limit other) {
        limiter.decide(Policy.of("p", limit).charge("k", limit.capacity()));
        limiter.decide(Policy.of("p", limit).charge("k"));

        assertThat(limiter.peek(penalized(other).charge("k"))).isRefused();
        assertThat(limiter.decide(penalized(other).charge("k", other.capacity())))
                .isRefused()
                .hasRetryAfter(PENALTY);

        ticker.advance(Duration.ofSeconds(3));
        assertThat(limiter.decide(penalized(other).charge("k", other.capacity())))
                .isRefused()
                .hasRetryAfter(Duration.ofSeconds(2));
    }

    @ParameterizedTest
    @MethodSource("limitsAndClocks")
    void decide_penaltyIsOver_equalsKeyNeverSeen(Limit limit, Clock clock) {
        use(clock);
        Policy policy = refusing(limit);

        ticker.advanceNanos(limiter.inspect(policy, "k").get(0).fullAfterNanos());
        List<LimitStatus> idle = limiter.inspect(policy, "k");

        assertThat(idle).usingRecursiveComparison().ignoringFields("charge").isEqualTo(limiter.inspect(policy, "new"));
        ticker.advanceOnRead(Duration.ZERO);
        assertThat(limiter.decide(policy.charge("k", limit.capacity() + 1)).limits())
                .usingRecursiveComparison()
                .ignoringFields("charge")
                .isEqualTo(limiter.decide(policy.charge("new", limit.capacity() + 1))
                        .limits());
    }

    @ParameterizedTest
    @EnumSource
    void charge_manyThreadsDuringThePenalty_admitsNone(Several way) throws InterruptedException {
        Policy policy = penalized(TokenBucket.of(Rate.parse("1000/second")));
        Policy other = Policy.of("q", TokenBucket.of(Rate.parse("100000/minute")));
        limiter.decide(policy.charge("k", 1001));
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(8, 50, () -> {
            if (charge(way, List.of(policy.charge("k"), other.charge()))) {
                admitted.incrementAndGet();
            }
        });

        assertThat(admitted).hasValue(0);
        assertThat(limiter.peek(other.charge())).hasRemaining(100_000);
    }

    /** Limits, and by how much the wall clock is set back. */
    Stream<Arguments> stepsBack() {
        return Stream.concat(limits(), Stream.of(FixedWindow.onClock(TEN_A_SECOND, ZoneOffset.UTC)))
                .flatMap(limit -> Stream.of(1L, 4_000L, 6_000L, 3_600_000L).map(millis -> Arguments.of(limit, millis)));
    }

    @ParameterizedTest
    @MethodSource("stepsBack")
    void decide_clockSetBack_waitsForOnePenaltyAtMost(Limit limit, long millis) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20.5Z")));
        Policy policy = refusing(limit);
        ticker.advance(Duration.ofSeconds(3));

        ticker.setWallClock(Duration.ofMillis(-millis));

        long wait = limiter.peek(policy.charge("k")).retryAfterNanos();
        assertThat(wait).isBetween(Duration.ofSeconds(2).toNanos(), PENALTY.toNanos());
        ticker.advanceNanos(wait - resolution().toNanos());
        assertThat(limiter.decide(policy.charge("k"))).isRefused().hasRetryAfter(resolution());
        ticker.advance(resolution());
        assertThat(limiter.decide(policy.charge("k"))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void penalty_questions_writeNothing(Limit inside) {
        LimitAlgorithm limit = penalized(inside).algorithms().get(0);
        long[] state = charged(limit, 7);
        long[] before = state.clone();

        limit.remaining(state, 0, NOW + 1);
        limit.retryAfterNanos(state, 0, 5, NOW + 1);
        limit.fullAfterNanos(state, 0, NOW + 1);
        limit.admits(state, 0, 5, NOW + 1);

        assertThat(state).isEqualTo(before);
    }
}
