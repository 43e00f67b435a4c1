package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the {@link RateLimitStoreContract} on time: waits and refunds. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // so that a subclass can say which limits
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
abstract class StoreTimeContract {

    static final Rate TEN_A_SECOND = Rate.parse("10/second");

    /** What the clocks do between two readings. */
    enum Clock {
        STILL,
        MOVING
    }

    FakeTicker ticker;
    RateLimitStore store;
    RateLimiter limiter;

    /**
     * {@return a store that uses this clock, and shares nothing with previous stores}
     *
     * @param time also the store's scheduler, for what it does later; each test closes its store
     */
    protected abstract RateLimitStore newStore(FakeTicker time);

    /** {@return the unit of the store's clock, to which waits are rounded up; a nanosecond unless overridden} */
    protected Duration resolution() {
        return Duration.ofNanos(1);
    }

    /**
     * {@return whether a call decides over several keys at one moment; true unless overridden} A store on several
     * servers may not: while it refunds one of them, it may refuse other calls that would have been admitted.
     */
    protected boolean decidesAtOneMoment() {
        return true;
    }

    @BeforeEach
    void makeStore() {
        ticker = new FakeTicker();
        store = newStore(ticker);
        limiter = new RateLimiter(store, ticker);
    }

    @AfterEach
    void closeStore() throws Exception {
        store.close();
    }

    void use(FakeTicker time) {
        store.close();
        ticker = time;
        store = newStore(ticker);
        limiter = new RateLimiter(store, ticker);
    }

    /** Advances the store's clock on each reading. */
    void use(Clock clock) {
        if (clock == Clock.MOVING) {
            use(new FakeTicker().advanceOnRead(resolution()));
        }
    }

    /** The limits to test with, ten permits per second. */
    Stream<Limit> limits() {
        return limits(TEN_A_SECOND);
    }

    /** Those of them that hold ten permits, to charge in parts. */
    Stream<Limit> limitsOfTen() {
        return limits().filter(limit -> limit.capacity() == TEN_A_SECOND.permits());
    }

    /** So many tenths of a limit's permits, rounded up. */
    static long tenths(Limit limit, int tenths) {
        return LimitAlgorithm.of(limit).share(tenths, 10);
    }

    /**
     * {@return the limits to test with: one of each algorithm, and more if its options make a different one} Override
     * this method to add custom limits to those of {@code super}, always in the same order. They refill their
     * {@linkplain Limit#capacity() permits} within two periods. Those that do not hold {@code rate.permits()} skip the
     * tests that charge parts of ten permits. Only the recorded traces of these limits' algorithms are replayed.
     *
     * @param rate 10 permits per second, or twice as many
     */
    protected Stream<Limit> limits(Rate rate) {
        return Stream.concat(
                Stream.of(Algorithm.values())
                        .map(algorithm -> algorithm.limit(rate, LimitOptions.NONE))
                        .filter(limit -> !limit.concurrency()),
                Stream.of(
                        TokenBucket.of(rate, rate.permits(), TokenBucket.Refill.INTERVAL),
                        SlidingWindow.of(rate, SlidingWindow.Rounding.FLOOR)));
    }

    /** The same limits, and windows aligned with the wall clock, with each clock. */
    Stream<Arguments> limitsAndClocks() {
        return withClocks(limits());
    }

    Stream<Arguments> limitsOfTenAndClocks() {
        return withClocks(limitsOfTen());
    }

    private static Stream<Arguments> withClocks(Stream<Limit> limits) {
        return Stream.concat(limits, Stream.of(FixedWindow.onClock(TEN_A_SECOND, ZoneOffset.UTC)))
                .flatMap(limit -> Stream.of(Clock.values()).map(clock -> Arguments.of(limit, clock)));
    }

    static final long NOW = Duration.ofDays(20_000).toNanos();

    /** The state of a new key after a charge at {@link #NOW}. */
    static long[] charged(LimitAlgorithm limit, long permits) {
        long[] state = new long[limit.stateSize()];
        limit.clear(state, 0, NOW);
        state = limit.grow(state, 0, permits, NOW);
        limit.charge(state, 0, permits, NOW);
        return state;
    }

    /** The limit of {@link #limits()} with twice the rate. */
    Limit doubled(Limit limit) {
        int number = limits().toList().indexOf(limit);
        return limits(Rate.parse("20/second")).toList().get(number);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_afterRetryAfter_isAdmittedAndNotOneUnitEarlier(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", limit.capacity()));
        ticker.advance(Duration.ofMillis(3));
        long wait = limiter.decide(policy.charge("k", tenths(limit, 3))).retryAfterNanos();

        ticker.advanceNanos(wait - resolution().toNanos());
        assertThat(limiter.decide(policy.charge("k", tenths(limit, 3))))
                .isRefused()
                .hasRetryAfter(resolution());
        ticker.advance(resolution());
        assertThat(limiter.decide(policy.charge("k", tenths(limit, 3)))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("limitsAndClocks")
    void decide_afterFullAfter_equalsKeyNeverSeen(Limit limit, Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", tenths(limit, 4)));
        ticker.advance(Duration.ofMillis(700));
        limiter.decide(policy.charge("k", tenths(limit, 5)));

        ticker.advanceNanos(limiter.inspect(policy, "k").get(0).fullAfterNanos());
        List<LimitStatus> idle = limiter.inspect(policy, "k");
        List<LimitStatus> neverSeen = limiter.inspect(policy, "new");
        assertThat(idle).usingRecursiveComparison().ignoringFields("charge").isEqualTo(neverSeen);
        ticker.advanceOnRead(Duration.ZERO);
        assertThat(limiter.decide(policy.charge("k", tenths(limit, 6))).limits())
                .usingRecursiveComparison()
                .ignoringFields("charge")
                .isEqualTo(
                        limiter.decide(policy.charge("new", tenths(limit, 6))).limits());
    }

    @ParameterizedTest
    @MethodSource("limitsAndClocks")
    void refund_eachTime_theNextIsAdmitted(Limit limit, Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", limit);

        for (int i = 0; i < 30; i++) {
            Reservation reservation = limiter.reserve(policy.charge("k", tenths(limit, 4)));
            assertThat(reservation).isAdmitted();
            assertThat(reservation.refund()).isTrue();
        }

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(limit.capacity());
    }

    @ParameterizedTest
    @MethodSource("limitsOfTenAndClocks")
    void refund_inAnyOrder_givesBackWhatEachTook(Limit limit, Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", limit);
        List<Reservation> permits = IntStream.rangeClosed(1, 4)
                .mapToObj(taken -> limiter.reserve(policy.charge("k", taken)))
                .toList();

        permits.get(1).refund();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(2);
        permits.get(3).refund();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(6);
        permits.get(0).refund();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(7);
        permits.get(2).refund();
        assertThat(limiter.inspect(policy, "k").get(0).fullAfterNanos()).isZero();
    }

    @ParameterizedTest
    @MethodSource("limitsOfTenAndClocks")
    void refund_givesBackOnceAndNeverAboveFull(Limit limit, Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", limit);
        Reservation reservation = limiter.reserve(policy.charge("k", 4));
        Reservation kept = limiter.reserve(policy.charge("k", 3));
        assertThat(kept.commit()).isTrue();

        assertThat(reservation.refund()).isTrue();
        assertThat(reservation.refund()).isFalse();
        assertThat(reservation.commit()).isFalse();
        assertThat(kept.refund()).isFalse();

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(7);
        limiter.reset(policy, "k");
        Reservation late = limiter.reserve(policy.charge("k", 4));
        ticker.advance(Duration.ofMinutes(1));
        assertThat(late.refund()).isTrue();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(10);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTenAndClocks")
    void refund_oneOfSeveralCharges_givesAllBack(Limit limit, Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", limit, TokenBucket.of(TEN_A_SECOND));
        Policy other = Policy.of("q", SlidingLog.of(TEN_A_SECOND));

        for (int i = 0; i < 20; i++) {
            Reservation reservation =
                    limiter.reserve(policy.charge("k", 3), other.charge("l", 2), policy.charge("m", 4));
            assertThat(reservation).isAdmitted();
            assertThat(reservation.refund()).isTrue();
        }

        assertThat(limiter.peek(policy.charge("k"), other.charge("l"), policy.charge("m")))
                .hasRemaining(10, 10, 10, 10, 10);
    }

    @ParameterizedTest
    @EnumSource
    void refund_windowIsOver_givesNothingToTheNext(Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", FixedWindow.of(TEN_A_SECOND), SlidingLog.of(TEN_A_SECOND));
        Reservation first = limiter.reserve(policy.charge("k", 4));
        ticker.advance(Duration.ofSeconds(1));
        limiter.decide(policy.charge("k", 10));

        first.refund();

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(0, 0);
    }

    @ParameterizedTest
    @EnumSource
    void refund_refusedPermit_givesNothing(Clock clock) {
        use(clock);
        Policy policy = Policy.of("p", TokenBucket.of(TEN_A_SECOND));
        limiter.decide(policy.charge("k", 9));
        Reservation refused = limiter.reserve(policy.charge("k", 5));

        assertThat(refused).isRefused();
        assertThat(refused.refund()).isFalse();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(1);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void refund_limitChangedSince_givesItsProportion(Limit limit) {
        Reservation reservation = limiter.reserve(Policy.of("p", limit).charge("k", 4));
        Policy changed = Policy.of("p", doubled(limit));
        limiter.decide(changed.charge("k", 2));

        reservation.refund();

        assertThat(limiter.peek(changed.charge("k"))).hasRemaining(18);
    }
}
