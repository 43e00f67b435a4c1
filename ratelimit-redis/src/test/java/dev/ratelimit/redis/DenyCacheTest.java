package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keys that Redis has refused are refused locally while that is certain. */
@Tag("servers")
class DenyCacheTest {

    private static final Policy TEN = Policy.of("p", TokenBucket.of(Rate.parse("10/minute")));

    @Started
    private static RedisServer server;

    private FakeTicker time;
    private Scene scene;
    private FakeClock store;

    @BeforeEach
    void makeStore() {
        server.commands().flushall();
        time = new FakeTicker();
        scene = new Scene(
                server.uri(),
                settings -> settings.ticker(time)
                        .deadline(Duration.ofSeconds(20))
                        .denyCache(Duration.ofSeconds(1))
                        .edition(FakeClock::inScript));
        store = new FakeClock(scene.store, server.commands(), time);
    }

    @AfterEach
    void closeStore() {
        scene.close();
    }

    private Decision decide(Policy policy) {
        return store.decide(List.of(policy.charge("k")));
    }

    private static long evaluated() {
        Matcher calls = Pattern.compile("cmdstat_evalsha:calls=(\\d+)")
                .matcher(server.commands().info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @Test
    @DisplayName("G4: if 95 of 100 are refused, Redis is asked for less than one refusal in ten")
    void attack_mostlyRefused_asksRedisRarely() {
        Policy policy = Policy.of("p", TokenBucket.of(Rate.parse("60/minute"), 10));
        decide(policy);
        long before = evaluated();
        int refused = 0;

        for (int i = 0; i < 1200; i++) {
            time.advance(Duration.ofMillis(50));
            refused += decide(policy).admitted() ? 0 : 1;
        }

        assertThat(refused).isBetween(1120, 1140);
        long askedForRefusals = evaluated() - before - (1200 - refused);
        assertThat(askedForRefusals / (double) refused).isLessThan(0.1);
    }

    @Test
    void penalty_peekFoundItExhausted_startsAtTheNextCharge() {
        Policy policy = TEN.withPenalty(Duration.ofMinutes(10));
        store.decide(List.of(policy.charge("k", 10)));
        assertThat(store.peek(List.of(policy.charge("k"))).admitted()).isFalse();

        assertThat(decide(policy).retryAfter()).hasMinutes(10);

        long before = evaluated();
        time.advance(Duration.ofMillis(500));
        assertThat(decide(policy).retryAfterNanos())
                .isEqualTo(Duration.ofMinutes(10).minusMillis(500).toNanos());
        assertThat(evaluated()).isEqualTo(before);
    }

    @Test
    void penalty_anotherPolicyRefusesHere_startsNevertheless() {
        Policy login =
                Policy.of("login", TokenBucket.of(Rate.parse("1/minute"))).withPenalty(Duration.ofMinutes(10));
        store.decide(List.of(TEN.charge("k", 10), login.charge("k")));
        decide(TEN);

        store.decide(List.of(TEN.charge("k"), login.charge("k")));

        assertThat(store.peek(List.of(login.charge("k"))).retryAfter()).hasMinutes(10);
    }

    @Test
    @DisplayName(
            "G4: a key is never refused here longer than it has to wait, nor told another wait than Redis would tell")
    void refusedHere_endsWithTheWait() {
        store.decide(List.of(TEN.charge("k", 10)));
        Decision there = decide(TEN);
        time.advance(Duration.ofMillis(400));
        long asked = evaluated();
        Decision here = decide(TEN);
        assertThat(evaluated()).isEqualTo(asked);
        assertThat(here.retryAfterNanos()).isEqualTo(there.retryAfterNanos() - 400_000_000);

        time.advance(Duration.ofNanos(here.retryAfterNanos() - 1000));
        assertThat(decide(TEN).admitted()).isFalse();
        time.advanceNanos(1000);
        assertThat(decide(TEN).admitted()).isTrue();
    }

    @Test
    @DisplayName(
            "G4: what is refused here takes another look after a second, in which another instance may reset the key")
    void refusedHere_resetElsewhere_isSeenAfterASecond() {
        store.decide(List.of(TEN.charge("k", 10)));
        decide(TEN);
        server.commands().flushall();

        assertThat(decide(TEN).admitted()).isFalse();
        time.advance(Duration.ofSeconds(1));
        assertThat(decide(TEN).admitted()).isTrue();
    }

    @Test
    @DisplayName("G4: forgotten when the limit changes, when the key is reset, and on a refund")
    void refusedHere_limitChangedOrResetOrRefunded_isAskedAnew() {
        Limit more = TokenBucket.of(Rate.parse("10/minute"), 100);
        List<Charge> all = List.of(TEN.charge("k", 10));
        Decision taken = store.decide(all);
        assertThat(decide(TEN).admitted()).isFalse();

        store.refund(taken);
        assertThat(decide(TEN).admitted()).isTrue();
        store.decide(List.of(TEN.charge("k", 9)));
        assertThat(decide(TEN).admitted()).isFalse();
        store.reset(TEN, "k");
        assertThat(decide(TEN).admitted()).isTrue();
        store.decide(List.of(TEN.charge("k", 9)));
        assertThat(decide(TEN).admitted()).isFalse();
        long asked = evaluated();
        decide(Policy.of("p", more));
        assertThat(evaluated()).isEqualTo(asked + 1);
    }

    @Test
    void refusedHere_dearer_isNoReasonToRefuseCheaper() {
        store.decide(List.of(TEN.charge("k", 8)));
        assertThat(store.decide(List.of(TEN.charge("k", 3))).admitted()).isFalse();

        assertThat(store.decide(List.of(TEN.charge("k", 2))).admitted()).isTrue();
    }
}
