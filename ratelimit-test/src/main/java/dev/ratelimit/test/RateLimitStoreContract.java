package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Permit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What every store must do. To test one, extend this class and say how to make it; each test gets a new store.
 *
 * <p>It replays recorded traces of each algorithm, and checks the rules that hold for all: all or nothing, refusals that
 * change nothing, refunds, limits that change, and exact counts under many threads.
 */
public abstract class RateLimitStoreContract {

    private static final Rate TEN_A_SECOND = Rate.parse("10/second");

    private FakeTicker ticker = new FakeTicker();
    private RateLimitStore store = newStore(ticker);
    private RateLimiter limiter = new RateLimiter(store, ticker);

    /** A new store that goes by this time, sharing nothing with those before. */
    protected abstract RateLimitStore newStore(FakeTicker time);

    /** The unit of the store's clock, to which waits are rounded up; a nanosecond unless it says otherwise. */
    protected Duration resolution() {
        return Duration.ofNanos(1);
    }

    @BeforeEach
    void makeStore() {
        use(new FakeTicker());
    }

    @AfterEach
    void closeStore() throws Exception {
        store.close();
    }

    private void use(FakeTicker time) {
        store.close();
        ticker = time;
        store = newStore(ticker);
        limiter = new RateLimiter(store, ticker);
    }

    static Stream<Trace> traces() {
        return Trace.all();
    }

    /** One limit of each algorithm, ten permits a second. */
    static Stream<Limit> limits() {
        return Stream.of(
                TokenBucket.of(TEN_A_SECOND),
                TokenBucket.of(TEN_A_SECOND, 10, TokenBucket.Refill.INTERVAL),
                FixedWindow.of(TEN_A_SECOND),
                SlidingWindow.of(TEN_A_SECOND),
                SlidingWindow.of(TEN_A_SECOND, SlidingWindow.Rounding.FLOOR),
                SlidingLog.of(TEN_A_SECOND));
    }

    @ParameterizedTest
    @MethodSource("traces")
    void decide_trace_answersEveryStep(Trace trace) {
        use(new FakeTicker(trace.start()));
        Policy policy = Policy.of("trace", trace.limit());
        long now = 0;

        for (Trace.Step step : trace.steps()) {
            ticker.advance(Duration.ofMillis(step.atMillis() - now));
            now = step.atMillis();
            Decision decision = limiter.decide(policy.charge(trace.name(), step.permits()));
            LimitStatus status = decision.limits().get(0);
            Trace.Step answer = new Trace.Step(
                    now,
                    step.permits(),
                    decision.admitted(),
                    status.remaining(),
                    decision.never() ? -1 : ceilMillis(decision.retryAfterNanos()),
                    ceilMillis(status.fullAfterNanos()));
            assertThat(answer).isEqualTo(step);
        }
    }

    @ParameterizedTest
    @MethodSource("traces")
    void tryCharge_trace_admitsAsDecideDoes(Trace trace) {
        use(new FakeTicker(trace.start()));
        Policy policy = Policy.of("trace", trace.limit());
        long now = 0;

        for (Trace.Step step : trace.steps()) {
            ticker.advance(Duration.ofMillis(step.atMillis() - now));
            now = step.atMillis();
            boolean admitted = store.tryCharge(policy.charge(trace.name(), step.permits()));
            assertThat(admitted).as("%s", step).isEqualTo(step.admitted());
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_refused_changesNothing(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", 7));
        List<LimitStatus> before = limiter.inspect(policy, "k");

        assertThat(limiter.decide(policy.charge("k", 4))).isRefusedBy("p");

        assertThat(limiter.inspect(policy, "k")).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void peek_answersWithoutCharging(Limit limit) {
        Policy policy = Policy.of("p", limit);

        assertThat(limiter.peek(policy.charge("k", 10))).isAdmitted().hasRemaining(10);
        assertThat(limiter.peek(policy.charge("k", 11))).isRefused().isNever();
        assertThat(limiter.decide(policy.charge("k", 0))).isAdmitted().hasRemaining(10);
        assertThat(limiter.decide(policy.charge("k", 10))).isAdmitted().hasRemaining(0);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_keys_haveBudgetsOfTheirOwn(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("a", 10));

        assertThat(limiter.tryAcquire(policy.charge("a"))).isFalse();
        for (String key : List.of("", "b", "a ", "A", "\u0000", "{a}", "é", "\ud800", "a".repeat(10_000))) {
            assertThat(limiter.decide(policy.charge(key, 10))).isAdmitted();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_afterRetryAfter_isAdmittedAndNotOneUnitEarlier(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", 10));
        ticker.advance(Duration.ofMillis(3));
        long wait = limiter.decide(policy.charge("k", 3)).retryAfterNanos();

        ticker.advanceNanos(wait - resolution().toNanos());
        assertThat(limiter.decide(policy.charge("k", 3))).isRefused().hasRetryAfter(resolution());
        ticker.advance(resolution());
        assertThat(limiter.decide(policy.charge("k", 3))).isAdmitted();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_afterFullAfter_equalsKeyNeverSeen(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("k", 4));
        ticker.advance(Duration.ofMillis(700));
        limiter.decide(policy.charge("k", 5));

        ticker.advanceNanos(limiter.inspect(policy, "k").get(0).fullAfterNanos());

        assertThat(limiter.inspect(policy, "k")).isEqualTo(limiter.inspect(policy, "new"));
        assertThat(limiter.decide(policy.charge("k", 6)).limits())
                .isEqualTo(limiter.decide(policy.charge("new", 6)).limits());
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
    void refund_givesBackOnceAndNeverAboveFull(Limit limit) {
        Policy policy = Policy.of("p", limit);
        Permit permit = limiter.reserve(policy.charge("k", 4));
        Permit kept = limiter.reserve(policy.charge("k", 3));
        assertThat(kept.commit()).isTrue();

        assertThat(permit.refund()).isTrue();
        assertThat(permit.refund()).isFalse();
        assertThat(permit.commit()).isFalse();
        assertThat(kept.refund()).isFalse();

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(7);
        limiter.reset(policy, "k");
        Permit late = limiter.reserve(policy.charge("k", 4));
        ticker.advance(Duration.ofMinutes(1));
        assertThat(late.refund()).isTrue();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(10);
    }

    @Test
    void refund_windowIsOver_givesNothingToTheNext() {
        Policy policy = Policy.of("p", FixedWindow.of(TEN_A_SECOND), SlidingLog.of(TEN_A_SECOND));
        Permit first = limiter.reserve(policy.charge("k", 4));
        ticker.advance(Duration.ofSeconds(1));
        limiter.decide(policy.charge("k", 10));

        first.refund();

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(0, 0);
    }

    @Test
    void refund_refusedPermit_givesNothing() {
        Policy policy = Policy.of("p", TokenBucket.of(TEN_A_SECOND));
        limiter.decide(policy.charge("k", 9));
        Permit refused = limiter.reserve(policy.charge("k", 5));

        assertThat(refused).isRefused();
        assertThat(refused.refund()).isFalse();
        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(1);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void refund_limitChangedSince_givesItsProportion(Limit limit) {
        Permit permit = limiter.reserve(Policy.of("p", limit).charge("k", 4));
        Policy changed = Policy.of("p", doubled(limit));
        limiter.decide(changed.charge("k", 2));

        permit.refund();

        assertThat(limiter.peek(changed.charge("k"))).hasRemaining(18);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reset_forgetsOneKey(Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(policy.charge("a", 10), policy.charge("b", 10));

        limiter.reset(policy, "a");
        limiter.reset(policy, "unknown");

        assertThat(limiter.peek(policy.charge("a"))).hasRemaining(10);
        assertThat(limiter.peek(policy.charge("b"))).hasRemaining(0);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_limitChanged_keepsWhatIsUsedInProportion(Limit limit) {
        limiter.decide(Policy.of("p", limit).charge("half", 5));
        limiter.decide(Policy.of("p", limit).charge("empty", 10));

        limits().forEach(kind -> {
            Limit doubled = doubled(kind);
            assertThat(limiter.peek(Policy.of("p", doubled).charge("half"))).hasRemaining(10);
            assertThat(limiter.peek(Policy.of("p", doubled).charge("empty"))).hasRemaining(0);
            assertThat(limiter.peek(Policy.of("p", kind).charge("half"))).hasRemaining(5);
            assertThat(limiter.peek(Policy.of("p", kind).charge("empty"))).hasRemaining(0);
        });
    }

    private static Limit doubled(Limit limit) {
        Rate rate = Rate.parse("20/second");
        if (limit instanceof FixedWindow) {
            return FixedWindow.of(rate);
        }
        if (limit instanceof SlidingWindow) {
            return SlidingWindow.of(rate);
        }
        return limit instanceof SlidingLog ? SlidingLog.of(rate) : TokenBucket.of(rate);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void tryCharge_manyThreads_admitsExactlyTheLimit(Limit limit) throws InterruptedException {
        Policy policy = Policy.of("p", limit);
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(16, 50, () -> {
            if (store.tryCharge(policy.charge("hot"))) {
                admitted.incrementAndGet();
            }
        });

        assertThat(admitted).hasValue(10);
    }

    @Test
    void decide_manyThreadsAndSeveralLimits_admitsExactlyTheTightest() throws InterruptedException {
        Policy wide = Policy.of("wide", TokenBucket.of(Rate.parse("1000/minute")));
        Policy tight = Policy.of("tight", SlidingWindow.of(Rate.parse("100/minute")));
        List<Charge> charges = List.of(tight.charge("k"), wide.charge());
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(16, 50, () -> {
            if (store.decide(charges).admitted()) {
                admitted.incrementAndGet();
            }
        });

        assertThat(admitted).hasValue(100);
        assertThat(store.peek(charges)).hasRemaining(0, 900);
    }

    private static long ceilMillis(long nanos) {
        return -Math.floorDiv(-nanos, 1_000_000L);
    }
}
