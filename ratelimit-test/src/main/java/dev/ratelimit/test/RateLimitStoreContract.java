package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The behaviour of every store. To test a store, extend this class and create it in {@code newStore}; each test gets a
 * new store.
 *
 * <p>It replays recorded traces of each algorithm in each way to charge, and checks the common rules: all or nothing,
 * refusals that change nothing, penalties, waits and refunds with a clock that stands still and one that advances on each reading,
 * a wall clock that is set back, changed limits, and exact counts with many threads.
 *
 * <p>All tests of a class run on one instance. To test a custom limit, override {@link #limits(Rate)}.
 */
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
public abstract class RateLimitStoreContract extends StorePenaltyContract {

    @ParameterizedTest
    @MethodSource("traces")
    void decide_trace_answersEveryStep(Trace trace) {
        replay(trace, (charge, step) -> {
            Decision decision = limiter.decide(charge);
            LimitStatus status = decision.limits().get(0);
            Trace.Step answer = new Trace.Step(
                    step.atMillis(),
                    charge.permits(),
                    decision.admitted(),
                    status.remaining(),
                    decision.retryAfter() == null ? -1 : ceilMillis(decision.retryAfterNanos()),
                    ceilMillis(status.fullAfterNanos()));
            assertThat(answer).isEqualTo(step);
        });
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_refused_changesNothing(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", tenths(limit, 7)));
        List<LimitStatus> before = limiter.inspect(policy, "k");

        assertThat(limiter.decide(policy.charge("k", tenths(limit, 4)))).isRefusedBy("p");

        assertThat(limiter.inspect(policy, "k")).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void peek_answersWithoutCharging(Limit limit) {
        Policy policy = Policy.of("p", limit);

        assertThat(limiter.peek(policy.charge("k", limit.capacity())))
                .isAdmitted()
                .hasRemaining(limit.capacity());
        assertThat(limiter.peek(policy.charge("k", limit.capacity() + 1)))
                .isRefused()
                .isNever();
        assertThat(limiter.decide(policy.charge("k", 0))).isAdmitted().hasRemaining(limit.capacity());
        assertThat(limiter.decide(policy.charge("k", limit.capacity())))
                .isAdmitted()
                .hasRemaining(0);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_keys_haveBudgetsOfTheirOwn(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("a", limit.capacity()));

        assertThat(limiter.tryAcquire(policy.charge("a"))).isFalse();
        for (String key : List.of("", "b", "a ", "A", "\u0000", "{a}", "é", "\ud800", "a".repeat(10_000))) {
            assertThat(limiter.decide(policy.charge(key, limit.capacity()))).isAdmitted();
        }
    }

    @Test
    void decide_oneOfSeveralRefuses_othersKeepTheirs() {
        Policy global = Policy.of("global", TokenBucket.of(Rate.parse("100/minute")));
        Policy user = Policy.of("user", FixedWindow.of(Rate.parse("3/second")), SlidingLog.of(Rate.parse("5/minute")));

        assertThat(limiter.decide(user.charge("u", 3), global.charge()))
                .isAdmitted()
                .hasRemaining(0, 2, 99);
        assertThat(limiter.decide(user.charge("u", 1), global.charge()))
                .isRefusedBy("user")
                .hasRetryAfter(Duration.ofSeconds(1))
                .hasRemaining(0, 2, 99);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(limiter.decide(user.charge("u", 3), global.charge()))
                .isRefusedBy("user")
                .hasRetryAfter(Duration.ofSeconds(59))
                .hasRemaining(3, 2, 100);
    }

    @Test
    void decide_severalRefuse_namesLongestWaitFirst() {
        Policy quick = Policy.of("quick", FixedWindow.of(Rate.parse("1/second")));
        Policy slow = Policy.of("slow", FixedWindow.of(Rate.parse("1/hour")));
        limiter.decide(quick.charge("k"), slow.charge("k"));

        assertThat(limiter.decide(quick.charge("k"), slow.charge("k")))
                .isRefusedBy("slow", "quick")
                .hasRetryAfter(Duration.ofHours(1));
    }

    @Test
    void decide_sameBudgetTwice_isAddedUp() {
        Policy policy = Policy.of("p", TokenBucket.of(TEN_A_SECOND));

        assertThat(limiter.decide(policy.charge("k", 6), policy.charge("k", 6))).isRefused();
        assertThat(limiter.decide(policy.charge("k", 5), policy.charge("k", 5)))
                .isAdmitted()
                .hasRemaining(0);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reset_forgetsOneKey(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("a", limit.capacity()), policy.charge("b", limit.capacity()));

        assertThat(limiter.reset(policy, "a")).isTrue();
        assertThat(limiter.reset(policy, "unknown")).isTrue();

        assertThat(limiter.peek(policy.charge("a"))).hasRemaining(limit.capacity());
        assertThat(limiter.peek(policy.charge("b"))).hasRemaining(0);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void decide_limitChanged_keepsWhatIsUsedInProportion(Limit limit) {
        limiter.decide(Policy.of("p", limit).charge("half", 5));
        limiter.decide(Policy.of("p", limit).charge("empty", 10));

        limitsOfTen().forEach(kind -> {
            Limit doubled = doubled(kind);
            assertThat(limiter.peek(Policy.of("p", doubled).charge("half"))).hasRemaining(10);
            assertThat(limiter.peek(Policy.of("p", doubled).charge("empty"))).hasRemaining(0);
            assertThat(limiter.peek(Policy.of("p", kind).charge("half"))).hasRemaining(5);
            assertThat(limiter.peek(Policy.of("p", kind).charge("empty"))).hasRemaining(0);
        });
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void decide_limitWithAShorterPeriodComesOrGoes_inAnyPlace_keepsWhatIsUsed(Limit limit) {
        Limit shorter = TokenBucket.of(Rate.of(20, Duration.ofNanos(limit.rate().periodNanos() / 10)));
        limiter.decide(Policy.of("p", limit).charge("k", 4));

        assertThat(limiter.decide(Policy.of("p", shorter, limit).charge("k")).limits())
                .extracting(LimitStatus::remaining)
                .containsExactly(19L, 5L);
        assertThat(limiter.decide(Policy.of("p", limit, shorter).charge("k")).limits())
                .extracting(LimitStatus::remaining)
                .containsExactly(4L, 18L);
        assertThat(limiter.tryAcquire(Policy.of("p", limit).charge("k"))).isTrue();
        assertThat(limiter.peek(Policy.of("p", shorter, limit).charge("k")).limits())
                .extracting(LimitStatus::remaining)
                .containsExactly(18L, 3L);
    }

    /** The limits of two plans for each algorithm: twice as many permits, and another window. */
    Stream<Arguments> plans() {
        return Stream.of(Rate.parse("20/second"), Rate.parse("30/3s"))
                .flatMap(rate -> limits().flatMap(one -> limits(rate).map(other -> Arguments.of(one, other))));
    }

    @ParameterizedTest
    @MethodSource("plans")
    void decide_plansTakeTurns_refusalsAndPeeksUseNothingUp(Limit one, Limit other) {
        Policy plan = Policy.of("p", one);
        Policy otherPlan = Policy.of("p", other);
        long full =
                limiter.decide(plan.charge("k", one.capacity())).limits().get(0).fullAfterNanos();

        // each requests its whole capacity, and is refused unless the key is full sooner under one of them
        boolean admitted = false;
        for (int i = 0; i < 20 && !admitted; i++) {
            limiter.peek(otherPlan.charge("k"));
            admitted = limiter.tryAcquire(otherPlan.charge("k", other.capacity()))
                    || limiter.decide(plan.charge("k", one.capacity())).admitted();
            ticker.advanceNanos(full / 20);
        }

        assertThat(admitted || limiter.decide(plan.charge("k", one.capacity())).admitted())
                .isTrue();
    }

    @Test
    void decide_limitThatHasNotChangedForTheKeyRefusesToo_changesNothing() {
        Policy before = Policy.of("p", FixedWindow.of(Rate.parse("10/hour")), TokenBucket.of(TEN_A_SECOND));
        Policy after = Policy.of("p", FixedWindow.of(Rate.parse("10/30m")), TokenBucket.of(Rate.parse("5/second")));
        limiter.decide(before.charge("k", 10));
        ticker.advance(Duration.ofSeconds(2));

        // of the second, the key is full again, so that it is the same as a new one, whether or not the store has
        // forgotten it
        assertThat(limiter.decide(after.charge("k", 6))).isRefused();
        ticker.advance(Duration.ofMinutes(10));

        assertThat(limiter.peek(after.charge("k"))).isRefused().hasRetryAfter(Duration.ofMinutes(30));
    }

    /** Two plans of one key that charge it in turn. */
    private final class Turns {

        private final List<Policy> plans;
        private int admitted;

        Turns(Limit one, Limit other) {
            String name = one + " and " + other;
            plans = List.of(Policy.of(name, one), Policy.of(name, other));
        }

        void take(int turn) {
            limiter.peek(plans.get((turn + 1) % 2).charge("k"));
            admitted += limiter.tryAcquire(plans.get(turn % 2).charge("k")) ? 1 : 0;
        }
    }

    @Test
    @Tag("large") // tens of thousands of calls, long for a store behind a network
    void decide_plansTakeTurnsForLong_neverShutTheKey() throws Exception {
        List<Turns> all = plans().map(Arguments::get)
                .map(plans -> new Turns((Limit) plans[0], (Limit) plans[1]))
                .toList();

        // several threads, because the store may wait for a server; a key is charged by one of them at a time
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            for (int i = 0; i < 360; i++) {
                int turn = i;
                List<Callable<Object>> takes = all.stream()
                        .map(turns -> Executors.callable(() -> turns.take(turn)))
                        .toList();
                for (Future<Object> taken : threads.invokeAll(takes)) {
                    taken.get();
                }
                ticker.advance(Duration.ofMillis(100));
            }
        } finally {
            threads.shutdownNow();
        }

        // within 36 seconds; after each charge, all permits used before may count from that time
        assertThat(all)
                .allSatisfy(turns ->
                        assertThat(turns.admitted).as(turns.plans.get(0).name()).isGreaterThanOrEqualTo(36));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void limit_questions_writeNothing(LimitAlgorithm limit) {
        long[] state = charged(limit, 7);
        long[] before = state.clone();

        limit.remaining(state, 0, NOW + 1);
        limit.retryAfterNanos(state, 0, 5, NOW + 1);
        limit.fullAfterNanos(state, 0, NOW + 1);
        if (!limit.wallClock()) {
            limit.admits(state, 0, 5, NOW + 1);
        }

        assertThat(state).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void limit_earlierTime_creditsNothing(LimitAlgorithm limit) {
        for (long back : new long[] {1, limit.replenishNanos(), 100 * limit.replenishNanos()}) {
            long[] state = charged(limit, limit.capacity());

            assertThat(limit.admits(state, 0, 1, NOW - back)).isFalse();
            assertThat(limit.remaining(state, 0, NOW - back)).isZero();
        }
    }

    /** Somebody else may have read the clock later, and charged first; states that grow are charged with a later reading. */
    @ParameterizedTest
    @MethodSource("limits")
    void limit_chargeWithATimeBeforeTheState_isRefundedUnlessTheStateBeginsAfterIt(LimitAlgorithm limit) {
        long[] state = charged(limit, tenths(limit, 3));
        long left = limit.remaining(state, 0, NOW);
        long permits = tenths(limit, 2);

        assertThat(limit.beginsAfter(state, 0, NOW)).isFalse();
        if (!limit.grows() && !limit.beginsAfter(state, 0, NOW - 1) && limit.admits(state, 0, permits, NOW - 1)) {
            limit.charge(state, 0, permits, NOW - 1);
            limit.refund(state, 0, permits, 1, NOW);

            assertThat(limit.remaining(state, 0, NOW)).isEqualTo(left);
        }
    }

    private static long ceilMillis(long nanos) {
        return -Math.floorDiv(-nanos, 1_000_000L);
    }
}
