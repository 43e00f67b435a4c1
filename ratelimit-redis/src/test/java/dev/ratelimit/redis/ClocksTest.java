package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong clocks: the server's, which decides, and those of clients, which do not. */
@Tag("servers")
class ClocksTest {

    private static final Rate TEN_A_MINUTE = Rate.parse("10/minute");
    private static final Duration PATIENT = Duration.ofSeconds(20);

    @Started
    private static RedisServer server;

    static Stream<Limit> limits() {
        return Stream.of(
                TokenBucket.of(TEN_A_MINUTE),
                TokenBucket.of(TEN_A_MINUTE, 10, TokenBucket.Refill.INTERVAL),
                FixedWindow.of(TEN_A_MINUTE),
                FixedWindow.onClock(TEN_A_MINUTE, ZoneOffset.UTC),
                SlidingWindow.of(TEN_A_MINUTE),
                SlidingLog.of(TEN_A_MINUTE));
    }

    @ParameterizedTest
    @MethodSource("limits")
    @DisplayName("E19: the server's clock an hour ahead and back: at most one more burst, and no key is locked out")
    void serverClock_jumpsAheadAndBack_costsOneBurstAndLocksNobodyOut(Limit limit) {
        FakeTicker time = new FakeTicker();
        Policy policy = Policy.of("clock " + limit, limit);
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.ticker(time).deadline(PATIENT).edition(FakeClock::inScript))) {
            FakeClock store = new FakeClock(scene.store, server.commands(), time);
            assertThat(burst(store, policy)).isEqualTo(10);

            time.setWallClock(Duration.ofHours(1));
            assertThat(burst(store, policy)).isEqualTo(10);
            time.setWallClock(Duration.ofHours(-1));
            assertThat(burst(store, policy)).isLessThanOrEqualTo(10);

            Decision refused = store.decide(List.of(policy.charge("k")));
            assertThat(refused.admitted()).isFalse();
            assertThat(refused.retryAfter()).isLessThanOrEqualTo(Duration.ofMinutes(2));
            time.advanceNanos(refused.retryAfterNanos());
            assertThat(store.decide(List.of(policy.charge("k"))).admitted()).isTrue();
            time.advance(Duration.ofMinutes(2));
            assertThat(store.peek(List.of(policy.charge("k", 10))).admitted()).isTrue();
            assertThat(scene.events.failures()).isZero();
        }
    }

    private static int burst(RateLimitStore store, Policy policy) {
        int admitted = 0;
        for (int i = 0; i < 15; i++) {
            admitted += store.decide(List.of(policy.charge("k"))).admitted() ? 1 : 0;
        }
        return admitted;
    }

    /** The system's time, ahead by this much. */
    private record Ahead(Duration by) implements Ticker {

        @Override
        public long nanos() {
            return System.nanoTime() + by.toNanos();
        }

        @Override
        public long epochNanos() {
            return Ticker.system().epochNanos() + by.toNanos();
        }
    }

    @Test
    @DisplayName("E20: clients whose clocks are a minute off share one exact limit")
    void clientClocks_areOff_limitIsExact() {
        List<Policy> policies = List.of(
                Policy.of("bucket", TokenBucket.of(Rate.parse("30/day"))),
                Policy.of("log", SlidingLog.of(Rate.parse("30/day"))),
                Policy.of("month", FixedWindow.onClock(Rate.parse("30/month"), ZoneId.of("Asia/Kathmandu"))));
        List<Scene> scenes = new ArrayList<>();
        LongStream.of(-60, 0, 60)
                .forEach(seconds -> scenes.add(new Scene(
                        server.uri(),
                        settings -> settings.ticker(new Ahead(Duration.ofSeconds(seconds)))
                                .deadline(PATIENT))));
        int[] admitted = new int[policies.size()];

        for (int i = 0; i < 40; i++) {
            for (Scene scene : scenes) {
                for (int p = 0; p < admitted.length; p++) {
                    admitted[p] += scene.decide(policies.get(p), "k").admitted() ? 1 : 0;
                }
            }
        }

        assertThat(admitted).containsOnly(30);
        scenes.forEach(scene -> assertThat(scene.events.failures()).isZero());
        scenes.forEach(Scene::close);
    }

    @ParameterizedTest
    @ValueSource(longs = {-400, 400})
    @DisplayName("E20: a client whose clock is years off still gets the server's calendar")
    void clientClock_isYearsOff_calendarIsTheServers(long days) {
        Policy month = Policy.of("far" + days, FixedWindow.onClock(Rate.parse("2/month"), ZoneId.of("Europe/Berlin")));
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.ticker(new Ahead(Duration.ofDays(days))).deadline(PATIENT))) {
            assertThat(scene.decide(month, "k").admitted()).isTrue();
            assertThat(scene.decide(month, "k").admitted()).isTrue();
            assertThat(scene.decide(month, "k").admitted()).isFalse();
            assertThat(scene.events.failures()).isZero();
        }
    }

    @Test
    void calendarWindow_ofDecades_beginsBeforeTheEpoch() {
        FakeTicker time = new FakeTicker();
        Limit limit = FixedWindow.onClock(Rate.of(2, Duration.ofDays(24_000)), ZoneId.of("Europe/Berlin"));
        Policy policy = Policy.of("decades", limit);
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.ticker(time).deadline(PATIENT).edition(FakeClock::inScript))) {
            FakeClock store = new FakeClock(scene.store, server.commands(), time);

            assertThat(burst(store, policy)).isEqualTo(2);
            time.advance(Duration.ofDays(4000));
            assertThat(burst(store, policy)).isEqualTo(2);
            assertThat(scene.events.failures()).isZero();
        }
    }

    @Test
    void limitChangedToCalendar_clientClockIsOff_isDecided() {
        Policy before = Policy.of("moved", TokenBucket.of(Rate.parse("10/day")));
        Policy after = Policy.of("moved", FixedWindow.onClock(Rate.parse("10/month"), ZoneId.of("Europe/Berlin")));
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.ticker(new Ahead(Duration.ofDays(400))).deadline(PATIENT))) {
            scene.decide(before, "k");

            assertThat(scene.decide(after, "k").limits().get(0).remaining()).isEqualTo(8);
            assertThat(scene.events.failures()).isZero();
        }
    }

    @Test
    void limitRaised_refusedKey_comesBackAtTheNewPace() {
        FakeTicker time = new FakeTicker();
        Policy day = Policy.of("raised", FixedWindow.of(Rate.parse("10/day")));
        Policy minute = Policy.of("raised", FixedWindow.of(TEN_A_MINUTE));
        try (Scene scene = new Scene(
                server.uri(),
                settings -> settings.ticker(time).deadline(PATIENT).edition(FakeClock::inScript))) {
            FakeClock store = new FakeClock(scene.store, server.commands(), time);
            store.decide(List.of(day.charge("k", 10)));

            Decision refused = store.decide(List.of(minute.charge("k")));
            assertThat(refused.retryAfter()).isEqualTo(Duration.ofMinutes(1));
            time.advanceNanos(refused.retryAfterNanos());
            assertThat(store.decide(List.of(minute.charge("k"))).admitted()).isTrue();
        }
    }
}
