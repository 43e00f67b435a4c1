package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the {@link RateLimitStoreContract} on the ways to charge: each has the same result, all or nothing. */
@SuppressWarnings("CheckReturnValue") // charges prepare the state of keys
abstract class StoreChargeContract extends StoreAsyncContract {

    private static final Policy AMPLE = Policy.of("ample", TokenBucket.of(Rate.parse("1000000/second")));
    private static final Policy SHUT = Policy.of("shut", FixedWindow.of(Rate.parse("1/hour")));

    /** The ways to take one charge. */
    enum Way {
        DECIDE {
            @Override
            boolean charge(RateLimitStore store, Charge charge) {
                return store.decide(List.of(charge)).admitted();
            }
        },
        DECIDE_ASYNC("decideAsync", List.class) {
            @Override
            boolean charge(RateLimitStore store, Charge charge) {
                return answer(store.decideAsync(List.of(charge))).admitted();
            }
        },
        CHARGE("tryCharge", Charge.class) {
            @Override
            boolean charge(RateLimitStore store, Charge charge) {
                return store.tryCharge(charge);
            }
        },
        POLICY_AND_KEY("tryCharge", Policy.class, String.class, long.class) {
            @Override
            boolean charge(RateLimitStore store, Charge charge) {
                return store.tryCharge(charge.policy(), charge.key(), charge.permits());
            }
        },
        LIST_OF_ONE("tryCharge", List.class) {
            @Override
            boolean charge(RateLimitStore store, Charge charge) {
                return store.tryCharge(List.of(charge));
            }
        },
        LIST_OF_TWO {
            @Override
            boolean charge(RateLimitStore store, Charge charge) {
                return store.tryCharge(List.of(charge, AMPLE.charge()));
            }
        };

        private final @Nullable String method;
        private final Class<?>[] parameters;

        Way() {
            this(null);
        }

        Way(@Nullable String method, Class<?>... parameters) {
            this.method = method;
            this.parameters = parameters;
        }

        abstract boolean charge(RateLimitStore store, Charge charge);

        /** Whether it may differ from deciding one charge; a default method cannot. */
        boolean differsFromDecide(RateLimitStore store) {
            if (method == null) {
                return this != DECIDE;
            }
            try {
                return !store.getClass().getMethod(method, parameters).isDefault();
            } catch (NoSuchMethodException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** The ways to take several charges at once. */
    enum Several {
        DECIDE,
        DECIDE_ASYNC,
        TRY_CHARGE
    }

    boolean charge(Several way, List<Charge> charges) {
        return switch (way) {
            case DECIDE -> store.decide(charges).admitted();
            case DECIDE_ASYNC -> answer(store.decideAsync(charges)).admitted();
            case TRY_CHARGE -> store.tryCharge(charges);
        };
    }

    /** The traces of the algorithms that {@link #limits()} are of. */
    Stream<Trace> traces() {
        List<Class<?>> tested = limits().<Class<?>>map(Object::getClass).toList();
        return Trace.all().filter(trace -> tested.contains(trace.limit().getClass()));
    }

    Stream<Arguments> waysAndLimits() {
        return Stream.of(Way.values()).flatMap(way -> limits().map(limit -> Arguments.of(way, limit)));
    }

    Stream<Arguments> waysAndLimitsOfTen() {
        return Stream.of(Way.values()).flatMap(way -> limitsOfTen().map(limit -> Arguments.of(way, limit)));
    }

    Stream<Arguments> severalAndLimits() {
        return Stream.of(Several.values()).flatMap(way -> limits().map(limit -> Arguments.of(way, limit)));
    }

    Stream<Arguments> severalAndLimitsOfTen() {
        return Stream.of(Several.values()).flatMap(way -> limitsOfTen().map(limit -> Arguments.of(way, limit)));
    }

    /** Each trace in each way except decide, whose whole results are compared, and default methods that only decide. */
    Stream<Arguments> waysAndTraces() {
        try (RateLimitStore any = newStore(new FakeTicker())) {
            List<Way> ways = Stream.of(Way.values())
                    .filter(way -> way.differsFromDecide(any))
                    .toList();
            return ways.stream().flatMap(way -> traces().map(trace -> Arguments.of(way, trace)));
        }
    }

    /** Asks a new store what the trace asks, at its times. */
    void replay(Trace trace, BiConsumer<Charge, Trace.Step> ask) {
        use(new FakeTicker(trace.start()));
        Policy policy = Policy.of("trace", trace.limit());
        long now = 0;
        for (Trace.Step step : trace.steps()) {
            ticker.advance(Duration.ofMillis(step.atMillis() - now));
            now = step.atMillis();
            ask.accept(policy.charge(trace.name(), step.permits()), step);
        }
    }

    @ParameterizedTest
    @MethodSource("waysAndTraces")
    void charge_trace_admitsAsRecorded(Way way, Trace trace) {
        replay(
                trace,
                (charge, step) ->
                        assertThat(way.charge(store, charge)).as("%s", step).isEqualTo(step.admitted()));
    }

    @ParameterizedTest
    @EnumSource
    void charge_noPermits_asksOnly(Way way) {
        Policy policy = Policy.of("p", TokenBucket.of(TEN_A_SECOND));
        limiter.decide(policy.charge("k", 10));

        assertThat(way.charge(store, policy.charge("k", 0))).isTrue();
        assertThat(way.charge(store, policy.charge("k", 1))).isFalse();
        assertThat(way.charge(store, policy.charge("new", 0))).isTrue();
        assertThat(limiter.peek(policy.charge("new"))).hasRemaining(10);
    }

    @ParameterizedTest
    @MethodSource("waysAndLimits")
    void charge_moreThanTheCapacity_isRefused(Way way, Limit limit) {
        Policy policy = Policy.of("p", limit);

        assertThat(way.charge(store, policy.charge("k", limit.capacity() + 1))).isFalse();
        assertThat(way.charge(store, policy.charge("k", Long.MAX_VALUE))).isFalse();
        assertThat(way.charge(store, policy.charge("k", limit.capacity()))).isTrue();
    }

    @Test
    void charge_negativePermits_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.tryCharge(Policy.of("p", TokenBucket.of(TEN_A_SECOND)), "k", -1));
    }

    @ParameterizedTest
    @MethodSource("waysAndLimitsOfTen")
    void charge_oneLimitOfThePolicyRefuses_othersKeepTheirs(Way way, Limit limit) {
        Limit tight = FixedWindow.of(Rate.parse("3/minute"));
        for (List<Limit> limits : List.of(List.of(limit, tight), List.of(tight, limit))) {
            Policy policy = new Policy("p" + limits.indexOf(tight), limits);
            assertThat(way.charge(store, policy.charge("k", 3))).isTrue();

            for (int i = 0; i < 3; i++) {
                assertThat(way.charge(store, policy.charge("k", 1))).isFalse();
            }

            assertThat(limiter.inspect(policy, "k"))
                    .extracting(status -> status.limit().capacity() - status.remaining())
                    .containsExactly(3L, 3L);
        }
    }

    @ParameterizedTest
    @MethodSource("severalAndLimits")
    void chargeSeveral_oneOfThemRefuses_othersKeepTheirs(Several way, Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(SHUT.charge());
        List<Charge> charges = new ArrayList<>(List.of(
                SHUT.charge(),
                policy.charge("a", tenths(limit, 4)),
                AMPLE.charge(),
                policy.charge("b", tenths(limit, 5))));

        for (int i = 0; i < charges.size(); i++) {
            Collections.rotate(charges, 1);
            assertThat(charge(way, charges)).as("%s", charges).isFalse();
        }

        assertThat(limiter.peek(policy.charge("a"), policy.charge("b"), AMPLE.charge()))
                .hasRemaining(limit.capacity(), limit.capacity(), 1_000_000);
        charges.remove(SHUT.charge());
        assertThat(charge(way, charges)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("severalAndLimits")
    void chargeSeveral_refused_isAsIfItHadNeverBeen(Several way, Limit limit) {
        Policy policy = Policy.of("p", limit);
        limiter.decide(SHUT.charge());
        assertThat(charge(way, List.of(policy.charge("k", tenths(limit, 7)), SHUT.charge())))
                .isFalse();
        ticker.advance(Duration.ofMillis(300));

        List<LimitStatus> asked =
                limiter.decide(policy.charge("k", limit.capacity())).limits();
        List<LimitStatus> neverSeen =
                limiter.decide(policy.charge("new", limit.capacity())).limits();
        assertThat(asked).usingRecursiveComparison().ignoringFields("charge").isEqualTo(neverSeen);
        ticker.advance(Duration.ofMillis(1200));

        assertThat(limiter.inspect(policy, "k"))
                .usingRecursiveComparison()
                .ignoringFields("charge")
                .isEqualTo(limiter.inspect(policy, "new"));
    }

    @ParameterizedTest
    @EnumSource
    void chargeSeveral_refusedByManyThreads_refusesNobodyElse(Several way) throws InterruptedException {
        assumeTrue(decidesAtOneMoment());
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("1000/hour")));
        limiter.decide(SHUT.charge());
        // whoever took it for a moment would leave nothing to the others
        List<Charge> refused = List.of(policy.charge("k", 1000), SHUT.charge());

        Threads.run(8, 50, () -> {
            assertThat(charge(way, refused)).isFalse();
            Decision other = store.decide(List.of(policy.charge("k")));
            assertThat(other.admitted()).isTrue();
            store.refund(other);
        });

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(1000);
    }

    @ParameterizedTest
    @EnumSource
    void chargeSeveral_whileTheDayEnds_areOfOneDay(Several way) {
        Instant midnight = Instant.parse("2027-06-02T00:00:00Z");
        Limit daily = FixedWindow.onClock(Rate.parse("10/day"), ZoneOffset.UTC);
        List<Charge> charges = Stream.of("p", "q", "r")
                .map(name -> Policy.of(name, daily, daily).charge("k", 4))
                .toList();
        for (int readings = 1; readings < 20; readings++) {
            use(new FakeTicker(midnight.minus(Duration.ofHours(1))));
            charges.forEach(store::tryCharge);
            ticker.advance(Duration.ofHours(1).minus(resolution().multipliedBy(readings)));

            ticker.advanceOnRead(resolution());
            assertThat(charge(way, charges)).isTrue();
            ticker.advanceOnRead(Duration.ZERO);

            ticker.advance(Duration.ofSeconds(1));
            assertThat(limiter.peek(charges.toArray(Charge[]::new)).limits())
                    .as("%d readings before the end of the day", readings)
                    .extracting(LimitStatus::remaining)
                    .containsOnly(
                            limiter.inspect(charges.get(0).policy(), "k").get(0).remaining());
        }
    }

    @ParameterizedTest
    @MethodSource("waysAndLimits")
    void charge_manyThreads_admitsExactlyTheLimit(Way way, Limit limit) throws InterruptedException {
        Policy policy = Policy.of("p", limit);
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(16, 20, () -> {
            if (way.charge(store, policy.charge("hot"))) {
                admitted.incrementAndGet();
            }
        });

        assertThat(admitted).hasValue((int) limit.capacity());
    }

    @ParameterizedTest
    @EnumSource
    void chargeSeveral_manyThreads_admitsExactlyTheTightest(Several way) throws InterruptedException {
        Policy wide = Policy.of("wide", TokenBucket.of(Rate.parse("1000/minute")));
        Policy tight = Policy.of("tight", FixedWindow.of(Rate.parse("100/minute")));
        List<Charge> charges = List.of(tight.charge("k"), wide.charge());
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(16, 50, () -> {
            if (charge(way, charges)) {
                admitted.incrementAndGet();
            }
        });

        assertThat(admitted).hasValue(100);
        assertThat(store.peek(charges)).hasRemaining(0, 900);
    }

    /** Pairs of a policy and a key that would be the same if they were joined carelessly. */
    static Stream<Arguments> names() {
        Stream<Arguments> joined = Stream.of("", ":", "::", ".", "/", "|", "-", "_", "#", ",", " ", "0")
                .map(by -> Arguments.of("a", "b" + by + "c", "a" + by + "b", "c"));
        return Stream.concat(
                joined,
                Stream.of(
                        Arguments.of("orders", "k", "Orders", "k"),
                        Arguments.of("p", "k", "p", "K"),
                        Arguments.of("p", "k", "p ", "k"),
                        Arguments.of("p", "k", "p0", "k"),
                        Arguments.of("p", "k", "{p}", "k"),
                        Arguments.of("p", "", "p", "p"),
                        Arguments.of("p", "k", "k", "p")));
    }

    @ParameterizedTest
    @MethodSource("names")
    void charge_policiesAndKeys_haveBudgetsOfTheirOwn(String policy, String key, String otherPolicy, String otherKey) {
        Limit limit = TokenBucket.of(TEN_A_SECOND);
        Charge charge = Policy.of(policy, limit, limit).charge(key, 10);
        Charge other = Policy.of(otherPolicy, limit, limit).charge(otherKey, 10);

        assertThat(limiter.decide(charge)).isAdmitted();
        assertThat(limiter.decide(other)).isAdmitted();
        assertThat(limiter.decide(charge)).isRefused();
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void reset_severalLimits_forgetsEach(Limit limit) {
        Policy policy = Policy.of("p", limit, FixedWindow.of(TEN_A_SECOND), TokenBucket.of(TEN_A_SECOND));
        limiter.decide(policy.charge("a", 10), policy.charge("b", 10));

        limiter.reset(policy, "a");

        assertThat(limiter.peek(policy.charge("a"))).hasRemaining(10, 10, 10);
        assertThat(limiter.peek(policy.charge("b"))).hasRemaining(0, 0, 0);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void refund_part_givesBackThatPart(Limit limit) {
        Policy policy = Policy.of("p", limit, TokenBucket.of(TEN_A_SECOND));
        Decision decision = limiter.decide(policy.charge("a", 6), policy.charge("b", 6));

        store.refund(decision, List.of(policy.charge("b", 4)));

        assertThat(limiter.peek(policy.charge("a"), policy.charge("b"))).hasRemaining(4, 4, 8, 8);
        assertThatIllegalArgumentException().isThrownBy(() -> store.refund(decision, List.of(policy.charge("a", 7))));
        assertThatIllegalArgumentException().isThrownBy(() -> store.refund(decision, List.of(policy.charge("c"))));
    }

    @Test
    void refund_logWasReset_leavesLaterCharges() {
        Policy policy = Policy.of("p", SlidingLog.of(TEN_A_SECOND));
        Decision decision = limiter.decide(policy.charge("k", 3));
        limiter.reset(policy, "k");
        ticker.advance(Duration.ofMillis(10));
        assertThat(limiter.tryAcquire(policy.charge("k", 4))).isTrue();

        store.refund(decision);

        assertThat(limiter.peek(policy.charge("k"))).hasRemaining(6);
    }
}
