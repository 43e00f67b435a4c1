package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the {@link RateLimitStoreContract} on a wall clock that is set back. */
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
abstract class StoreClockContract extends StoreConcurrencyContract {

    private static final Rate HOURLY = Rate.parse("10/hour");

    /** Limits, and by how much of their period the wall clock is set back. */
    Stream<Arguments> setBacks() {
        Stream<Limit> onClock = Stream.of(
                FixedWindow.onClock(HOURLY, ZoneOffset.UTC),
                FixedWindow.onClock(Rate.parse("10/day"), ZoneOffset.UTC),
                FixedWindow.onClock(Rate.parse("10/day"), ZoneId.of("America/New_York")),
                FixedWindow.onClock(Rate.parse("10/month"), ZoneId.of("Europe/Berlin")));
        return Stream.concat(limits(HOURLY), onClock)
                .flatMap(limit ->
                        Stream.of(0.01, 0.5, 1.0, 1.5, 2.0, 10.0).map(periods -> Arguments.of(limit, periods)));
    }

    private void setBack(Limit limit, double periods) {
        ticker.setWallClock(Duration.ofMillis((long) (limit.replenishNanos() * -periods / 1e6)));
    }

    @ParameterizedTest
    @MethodSource("setBacks")
    void decide_clockSetBack_admitsNothingBecauseOfIt(Limit limit, double periods) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20Z")));
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", limit.capacity()));
        long wait = limiter.decide(policy.charge("k", 1)).retryAfterNanos();

        setBack(limit, periods);

        for (int i = 0; i < 4; i++) {
            assertThat(limiter.decide(policy.charge("k", 1))).isRefused();
            assertThat(limiter.tryAcquire(policy.charge("k", 1))).isFalse();
            ticker.advanceNanos(wait / 5);
        }
        assertThat(limiter.decide(policy.charge("k", 1))).isRefused();
    }

    @ParameterizedTest
    @MethodSource("setBacks")
    void decide_clockSetBack_waitsForOnePeriodAtMost(Limit limit, double periods) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20Z")));
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", limit.capacity()));

        setBack(limit, periods);

        // the first question notices the step; all of them then wait for the rest of the same time
        long wait = limiter.peek(policy.charge("k", 1)).retryAfterNanos();
        assertThat(wait).isBetween(1L, maxNanosToWait(limit));
        long half = wait / 2000 * 1000;
        ticker.advanceNanos(half);
        assertThat(limiter.tryAcquire(policy.charge("k", 1))).isFalse();
        assertThat(limiter.decide(policy.charge("k", 1))).isRefused().hasRetryAfter(Duration.ofNanos(wait - half));
        ticker.advanceNanos(wait - half);
        assertThat(limiter.decide(policy.charge("k", 1))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("setBacks")
    void decide_clockSetBack_isFoundByAChargeOfNoPermits(Limit limit, double periods) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20Z")));
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", limit.capacity()));

        setBack(limit, periods);

        assertThat(limiter.decide(policy.charge("k", 0))).isAdmitted();
        ticker.advanceNanos(maxNanosToWait(limit));
        assertThat(limiter.decide(policy.charge("k", 1))).isAdmitted();
    }

    /** The ways to ask; the first question after a step of the clock records it. */
    enum Question {
        DECIDE,
        PEEK,
        TRY_ACQUIRE
    }

    private boolean admitted(Question question, Charge... charges) {
        return switch (question) {
            case DECIDE -> limiter.decide(charges).admitted();
            case PEEK -> limiter.peek(charges).admitted();
            case TRY_ACQUIRE -> limiter.tryAcquire(charges);
        };
    }

    Stream<Arguments> setBacksAndQuestions() {
        return setBacks()
                .flatMap(setBack -> Stream.of(Question.values())
                        .map(question -> Arguments.of(setBack.get()[0], setBack.get()[1], question)));
    }

    @ParameterizedTest
    @MethodSource("setBacksAndQuestions")
    void decide_clockSetBackAmongSeveralLimits_waitsForOnePeriodAtMost(Limit limit, double periods, Question question) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20Z")));
        Policy policy = Policy.of("p", limit, TokenBucket.of(Rate.parse("100/minute")));
        Policy other = Policy.of("q", SlidingWindow.of(Rate.parse("100/minute")));
        limiter.decide(policy.charge("k", limit.capacity()), other.charge("l"));

        setBack(limit, periods);

        assertThat(admitted(question, policy.charge("k"), other.charge("l"))).isFalse();
        ticker.advanceNanos(maxNanosToWait(limit));
        assertThat(admitted(question, policy.charge("k"), other.charge("l"))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("setBacksAndQuestions")
    void decide_clockSetBackWhileAnotherLimitRefuses_isFullInTime(Limit limit, double periods, Question question) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20Z")));
        Policy policy = Policy.of("p", limit);
        Policy shut = Policy.of("q", TokenBucket.of(Rate.parse("1/365d")));
        limiter.decide(policy.charge("k", tenths(limit, 4)), shut.charge("l"));

        setBack(limit, periods);

        assertThat(admitted(question, policy.charge("k"), shut.charge("l"))).isFalse();
        assertThat(admitted(question, shut.charge("l"), policy.charge("k"))).isFalse();
        ticker.advanceNanos(2 * maxNanosToWait(limit));
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(limit.capacity());
    }

    @ParameterizedTest
    @MethodSource("setBacks")
    void refund_clockSetBack_isFullInTime(Limit limit, double periods) {
        use(new FakeTicker(Instant.parse("2027-03-10T05:00:20Z")));
        Policy policy = Policy.of("p", limit);
        Reservation reservation = limiter.reserve(policy.charge("k", tenths(limit, 4)));
        limiter.decide(policy.charge("k", tenths(limit, 5)));

        setBack(limit, periods);
        reservation.refund();

        ticker.advanceNanos(2 * maxNanosToWait(limit));
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(limit.capacity());
    }

    /**
     * The maximum wait for one permit of an exhausted key: a period, or longer without a step; a day may have an
     * additional hour.
     */
    private long maxNanosToWait(Limit limit) {
        LimitAlgorithm algorithm = LimitAlgorithm.of(limit);
        long exhausted = algorithm.retryAfterNanos(charged(algorithm, limit.capacity()), 0, 1, NOW);
        long hour = algorithm.wallClock() ? Duration.ofHours(1).toNanos() : 0;
        long unit = resolution().toNanos();
        return (Math.max(limit.replenishNanos(), exhausted) + hour + unit - 1) / unit * unit;
    }
}
