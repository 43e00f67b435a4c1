package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.redis.Breaker.Pass;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BreakerTest {

    private static final Duration OPEN_FOR = Duration.ofSeconds(1);

    private final FakeTicker time = new FakeTicker();
    private final Breaker breaker = new Breaker(time, 3, OPEN_FOR.toNanos());

    private boolean ask(boolean fails) {
        return breaker.left(breaker.enter(), fails);
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
        assertThat(breaker.enter()).isEqualTo(Pass.NO);
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
        List<Pass> underWay = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            underWay.add(breaker.enter());
        }

        long opened = underWay.stream().filter(pass -> breaker.left(pass, true)).count();

        assertThat(opened).isEqualTo(1);
    }

    @Test
    void open_probeComesAfterTheIntervalGiveOrTakeATenth() {
        open();

        time.advance(Duration.ofMillis(899));
        assertThat(breaker.enter()).isEqualTo(Pass.NO);
        time.advance(Duration.ofMillis(201));
        assertThat(breaker.enter()).isEqualTo(Pass.PROBE);
        assertThat(breaker.enter()).isEqualTo(Pass.NO);
    }

    @Test
    void probe_fails_nextComesAnIntervalLater() {
        open();
        time.advance(Duration.ofMillis(1100));

        assertThat(breaker.left(breaker.enter(), true)).isFalse();

        assertThat(breaker.enter()).isEqualTo(Pass.NO);
        time.advance(Duration.ofMillis(1100));
        assertThat(breaker.enter()).isEqualTo(Pass.PROBE);
    }

    @Test
    void probe_goesWell_closesAndForgetsFailures() {
        open();
        time.advance(Duration.ofMillis(1100));

        assertThat(breaker.left(breaker.enter(), false)).isTrue();

        assertThat(breaker.open()).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(ask(true)).isFalse();
        assertThat(breaker.open()).isFalse();
    }

    @Test
    void lateAnswer_ofRequestFromBefore_doesNotClose() {
        Pass slow = breaker.enter();
        open();

        assertThat(breaker.left(slow, false)).isFalse();

        assertThat(breaker.open()).isTrue();
    }

    @Test
    @DisplayName("E24: of many threads, one probes at a time")
    void probe_manyThreads_oneAtATime() throws InterruptedException {
        open();
        for (int round = 0; round < 20; round++) {
            time.advance(Duration.ofMillis(1100));
            AtomicInteger probes = new AtomicInteger();
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                Thread thread = new Thread(() -> {
                    try {
                        start.await();
                        probes.addAndGet(breaker.enter() == Pass.PROBE ? 1 : 0);
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
            breaker.left(Pass.PROBE, true);
        }
    }
}
