package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.redis.server.TcpProxy;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Redis answers some requests and not others. It admits what the limit allows, and each instance adds at most its
 * share: with n instances, (1 + n * share) times the limit's own bound.
 */
@Tag("servers")
@Tag("slow")
class PartialOutageTest {

    private static final int CAPACITY = 60;
    private static final Rate RATE = Rate.of(CAPACITY, Duration.ofHours(1));

    /** A failure that never opens the breaker. */
    private static final String TRY_AGAIN = "TRYAGAIN Multiple keys request during rehashing of slot";

    @Started
    private static RedisServer server;

    private final FakeTicker time = new FakeTicker();

    @BeforeEach
    void forgetAll() {
        server.commands().flushall();
    }

    /** Instances whose scripts fail with this error whenever asked to, on the fake clock. */
    private final class Instance implements AutoCloseable {

        private final Scene scene;
        private final FakeClock store;
        private boolean failing;

        Instance(String error, double share) {
            Script failure = Script.of("return redis.error_reply('" + error + "')");
            long micros = time.epochNanos() / 1000;
            // without clocks, the query at construction would fail as well
            FakeClock.set(server.commands(), micros, micros, micros);
            scene = new Scene(
                    server.uri(),
                    settings -> settings.ticker(time)
                            .deadline(Duration.ofSeconds(20))
                            .localShare(share)
                            .edition(script -> failing ? failure : FakeClock.inScript(script)));
            store = new FakeClock(scene.store, server.commands(), time);
        }

        Decision decide(boolean fails, Charge... charges) {
            failing = fails;
            return store.decide(List.of(charges));
        }

        @Override
        public void close() {
            scene.close();
        }
    }

    static Stream<Limit> limits() {
        return Stream.of(
                TokenBucket.of(RATE),
                TokenBucket.of(RATE, CAPACITY, TokenBucket.Refill.INTERVAL),
                FixedWindow.of(RATE),
                SlidingWindow.of(RATE),
                SlidingLog.of(RATE));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decide_everyOtherAnswered_admitsTheLimitAndItsShare(Limit limit) {
        Charge charge = Policy.of("p", limit).charge("k");
        try (Instance instance = new Instance(TRY_AGAIN, 0.5)) {
            int there = 0;
            int here = 0;
            for (int i = 0; i < 6 * CAPACITY; i++) {
                there += instance.decide(false, charge).admitted() ? 1 : 0;
                here += instance.decide(true, charge).admitted() ? 1 : 0;
            }

            assertThat(there).isEqualTo(CAPACITY);
            // half of what Redis admitted was also counted here, so this instance reaches its share sooner
            assertThat(here).isBetween(1, CAPACITY / 2);
            assertThat(instance.scene.events.changes()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("the bound is reached: memory first admits its share, then Redis the whole limit")
    void decide_firstHereThenThere_reachesTheBound(Limit limit) {
        Charge charge = Policy.of("p", limit).charge("k");
        List<Instance> instances =
                Stream.generate(() -> new Instance(TRY_AGAIN, 0.25)).limit(4).toList();
        try {
            int admitted = 0;
            for (boolean fails : new boolean[] {true, false, true, false}) {
                for (int i = 0; i < 2 * CAPACITY; i++) {
                    for (Instance instance : instances) {
                        admitted += instance.decide(fails, charge).admitted() ? 1 : 0;
                    }
                }
            }

            assertThat(admitted).isEqualTo(CAPACITY + 4 * (CAPACITY / 4));
        } finally {
            instances.forEach(Instance::close);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TRY_AGAIN, "WRONGTYPE", "ERR sometimes"})
    @DisplayName("in every interval at most (1 + share) * (C + r * t) are admitted, 45 of 100 requests failing")
    void decide_someFail_boundHoldsInEveryInterval(String error) {
        Limit limit = TokenBucket.of(Rate.of(CAPACITY, Duration.ofHours(1)), 20);
        Charge charge = Policy.of("p", limit).charge("k");
        List<Long> admissions = new ArrayList<>();
        long seed = Seeds.next();
        Random random = new Random(seed);
        try (Instance instance = new Instance(error, 0.5)) {
            for (int i = 0; i < 600; i++) {
                time.advance(Duration.ofSeconds(random.nextInt(20)));
                // nine of twenty, so that the breaker remains closed
                if (instance.decide(i % 20 % 2 == 1 && i % 20 < 18, charge).admitted()) {
                    admissions.add(time.nanos());
                }
            }

            assertThat(instance.scene.events.changes()).isZero();
            assertThat(instance.scene.events.failures()).isEqualTo(270);
        }
        for (int from = 0; from < admissions.size(); from++) {
            for (int to = from; to < admissions.size(); to++) {
                double hours = (admissions.get(to) - admissions.get(from)) / 3.6e12;
                assertThat((double) (to - from + 1))
                        .as("seed %s", seed)
                        .isLessThanOrEqualTo(1.5 * (20 + CAPACITY * hours));
            }
        }
    }

    @Test
    @DisplayName("E12: a key with a foreign value does not make the other policies of its request forget")
    void decide_oneKeyIsForeign_otherPoliciesKeepTheirBound() {
        Policy global = Policy.of("global", TokenBucket.of(RATE));
        Policy user = Policy.of("user", TokenBucket.of(Rate.parse("10000/hour")));
        server.commands().rpush(new KeyNames("ratelimit").name("user", "foreign") + 0, "x");
        try (Instance instance = new Instance(TRY_AGAIN, 1)) {
            int there = 0;
            int here = 0;
            for (int i = 0; i < 6 * CAPACITY; i++) {
                boolean fails = i % 6 > 0;
                Charge own = user.charge(fails ? "foreign" : "own");
                boolean admitted =
                        instance.decide(false, global.charge("all"), own).admitted();
                there += admitted && !fails ? 1 : 0;
                here += admitted && fails ? 1 : 0;
            }

            assertThat(there).isEqualTo(CAPACITY);
            assertThat(here).isLessThanOrEqualTo(CAPACITY);
        }
    }

    @Test
    @DisplayName("many callers, small max-in-flight: the excess is decided locally, and the bound holds")
    void decide_saturated_boundHolds() throws InterruptedException {
        int permits = 500;
        Policy policy = Policy.of("p", TokenBucket.of(Rate.of(permits, Duration.ofDays(1000))));
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Scene scene = new Scene(
                                proxy.uri(), settings -> settings.maxInFlight(8).deadline(Duration.ofSeconds(20)))
                        .connected()) {
            proxy.delay(Duration.ofMillis(5));
            AtomicInteger there = new AtomicInteger();
            AtomicInteger here = new AtomicInteger();
            List<Thread> callers = IntStream.range(0, 64)
                    .mapToObj(i -> new Thread(() -> {
                        for (int request = 0; request < 150; request++) {
                            Decision decision = scene.decide(policy, "k");
                            if (decision.admitted()) {
                                (Scene.byRedis(decision) ? there : here).incrementAndGet();
                            }
                        }
                    }))
                    .toList();
            callers.forEach(Thread::start);
            for (Thread caller : callers) {
                caller.join();
            }

            assertThat(scene.events.failures(RemoteStoreFailure.SATURATED)).isGreaterThan(1000);
            assertThat(there.get()).isLessThanOrEqualTo(permits);
            assertThat(here.get()).isLessThanOrEqualTo(permits);
            assertThat(scene.store.available()).isTrue();
        }
    }

    @Test
    @DisplayName("usage admitted by Redis also counts here, and local usage is not forgotten")
    void decide_afterAnswer_countsWhatWasUsedMost() {
        Charge charge = Policy.of("p", TokenBucket.of(RATE)).charge("k");
        try (Instance instance = new Instance(TRY_AGAIN, 1)) {
            for (int i = 0; i < 10; i++) {
                instance.decide(true, charge);
            }
            instance.decide(false, charge);
            assertThat(remaining(instance.decide(true, charge))).isEqualTo(CAPACITY - 11);

            for (int i = 0; i < 29; i++) {
                instance.decide(false, charge);
            }
            assertThat(remaining(instance.decide(true, charge))).isEqualTo(CAPACITY - 31);
        }
    }

    private static long remaining(Decision decision) {
        return decision.limits().stream()
                .mapToLong(LimitStatus::remaining)
                .min()
                .orElseThrow();
    }
}
