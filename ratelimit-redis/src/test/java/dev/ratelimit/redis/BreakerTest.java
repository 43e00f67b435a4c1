package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.Breaker.Permission;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class BreakerTest {

    private static final Duration OPEN_FOR = Duration.ofSeconds(1);

    private final FakeTicker time = new FakeTicker();
    private final Breaker breaker = new Breaker(time, 3, OPEN_FOR.toNanos(), new Random(1));

    private boolean ask(boolean fails) {
        return breaker.record(breaker.enter(), fails);
    }

    private void open() {
        for (int i = 0; i < 3; i++) {
            ask(true);
        }
        assertThat(breaker.open()).isTrue();
    }

    @Test
    void failures_asManyAsAgreed_open() {
        assertThat(ask(true)).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(breaker.open()).isFalse();

        assertThat(ask(true)).isTrue();
        assertThat(breaker.open()).isTrue();
        assertThat(breaker.enter()).isEqualTo(Permission.NO);
    }

    @Test
    void failures_spreadOverMoreThanTwentyRequests_doNotOpen() {
        for (int i = 0; i < 100; i++) {
            ask(i % 10 == 0);
        }

        assertThat(breaker.open()).isFalse();
    }

    @Test
    void failures_withinTwentyRequests_open() {
        ask(true);
        for (int i = 0; i < 17; i++) {
            ask(false);
        }
        ask(true);

        assertThat(ask(true)).isTrue();
    }

    @Test
    void failures_ofRequestsThatPassedBefore_openOnce() {
        List<Permission> underWay = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            underWay.add(breaker.enter());
        }

        long opened =
                underWay.stream().filter(pass -> breaker.record(pass, true)).count();

        assertThat(opened).isEqualTo(1);
    }

    @Test
    void open_probeComesAfterTheIntervalGiveOrTakeATenth() {
        open();

        time.advance(Duration.ofMillis(899));
        assertThat(breaker.enter()).isEqualTo(Permission.NO);
        time.advance(Duration.ofMillis(201));
        assertThat(breaker.enter()).isEqualTo(Permission.PROBE);
        assertThat(breaker.enter()).isEqualTo(Permission.NO);
    }

    @Test
    void probe_fails_nextComesAfterTwiceAsLongUpToThirtySeconds() {
        open();
        for (long interval : new long[] {1, 2, 4, 8, 16, 30, 30}) {
            time.advance(Duration.ofMillis(interval * 899));
            assertThat(breaker.enter()).isEqualTo(Permission.NO);
            time.advance(Duration.ofMillis(interval * 202));
            assertThat(breaker.record(breaker.enter(), true)).isFalse();
        }
    }

    @Test
    void flapping_opensForLongerEachTime() {
        open();
        time.advance(Duration.ofMillis(1100));
        breaker.record(breaker.enter(), false);

        time.advance(Duration.ofMillis(9999));
        open();
        time.advance(Duration.ofMillis(1799));
        assertThat(breaker.enter()).isEqualTo(Permission.NO);
        time.advance(Duration.ofMillis(402));
        breaker.record(breaker.enter(), false);

        time.advance(Duration.ofSeconds(10));
        open();
        time.advance(Duration.ofMillis(1100));
        assertThat(breaker.enter()).isEqualTo(Permission.PROBE);
    }

    @RepeatedTest(20)
    @DisplayName("a server that is available again is tried after at most 1.1 * open-for + 1.25 * outage, and 33 s")
    void probe_afterOutageOfAnyLength_comesInTime() {
        open();
        long outage = 0;
        long wait = 0;
        for (int probes = 0; probes < 10; wait++) {
            if (breaker.enter() == Permission.PROBE) {
                // the server may have come back just after the last try
                assertThat((double) wait)
                        .isLessThanOrEqualTo(Math.min(33_000, 1.1 * OPEN_FOR.toMillis() + 1.25 * outage) + 1);
                breaker.record(Permission.PROBE, true);
                outage += wait;
                wait = 0;
                probes++;
            }
            time.advance(Duration.ofMillis(1));
        }
    }

    @Test
    void probe_goesWell_closesAndForgetsFailures() {
        open();
        time.advance(Duration.ofMillis(1100));

        assertThat(breaker.record(breaker.enter(), false)).isTrue();

        assertThat(breaker.open()).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(breaker.open()).isFalse();
    }

    @Test
    void connected_lastProbeFailed_nextRequestProbes() {
        open();
        failProbe();

        breaker.connected();

        assertThat(breaker.enter()).isEqualTo(Permission.EARLY_PROBE);
        assertThat(breaker.enter()).isEqualTo(Permission.NO);
        assertThat(breaker.record(Permission.EARLY_PROBE, false)).isTrue();
        assertThat(breaker.open()).isFalse();
    }

    @Test
    void connected_earlyProbeFails_restOfTheIntervalRemains() {
        open();
        failProbe();
        breaker.connected();
        time.advance(Duration.ofSeconds(1));
        assertThat(ask(true)).isFalse();

        breaker.connected();

        assertThat(breaker.enter()).isEqualTo(Permission.NO);
        time.advance(Duration.ofMillis(799));
        assertThat(breaker.enter()).isEqualTo(Permission.NO);
        time.advance(Duration.ofMillis(402));
        assertThat(breaker.enter()).isEqualTo(Permission.PROBE);
    }

    @Test
    void connected_againAndAgain_probesAtMostTwicePerInterval() {
        open();
        int probes = 0;
        for (int millis = 0; millis < 63_000; millis++) {
            time.advance(Duration.ofMillis(1));
            breaker.connected();
            Permission permission = breaker.enter();
            if (permission.probes()) {
                breaker.record(permission, true);
                probes++;
            }
        }

        // after 1, 3, 7, 15 and 31 s, give or take a tenth
        assertThat(probes).isBetween(10, 12);
    }

    @Test
    void connected_noProbeHasFailed_changesNothing() {
        breaker.connected();
        open();

        breaker.connected();

        assertThat(breaker.enter()).isEqualTo(Permission.NO);
    }

    private void failProbe() {
        time.advance(Duration.ofMillis(1100));
        assertThat(breaker.record(breaker.enter(), true)).isFalse();
    }

    @Test
    void lateAnswer_ofRequestFromBefore_doesNotClose() {
        Permission slow = breaker.enter();
        open();

        assertThat(breaker.record(slow, false)).isFalse();

        assertThat(breaker.open()).isTrue();
    }

    @Test
    @DisplayName("E24: of many threads, one probes at a time")
    void probe_manyThreads_oneAtATime() throws InterruptedException {
        open();
        for (int round = 0; round < 20; round++) {
            time.advance(Duration.ofSeconds(33));
            AtomicInteger probes = new AtomicInteger();
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                Thread thread = new Thread(() -> {
                    try {
                        start.await();
                        probes.addAndGet(breaker.enter() == Permission.PROBE ? 1 : 0);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
                thread.start();
                threads.add(thread);
            }
            start.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(probes).hasValue(1);
            breaker.record(Permission.PROBE, true);
        }
    }
}
