package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Waits whose alarms ring late, as on a busy or suspended machine. */
class LateAlarmTest {

    private static final Charge CHARGE =
            Policy.of("p", TokenBucket.of(Rate.parse("1/second"))).charge("k");

    private final FakeTicker ticker = new FakeTicker();
    private final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();

    @BeforeEach
    void exhaust() {
        assertThat(store.tryCharge(CHARGE)).isTrue();
    }

    /** A limiter whose waits take this much longer than asked for. */
    private RateLimiter late(Duration by) {
        Scheduler scheduler = (task, delayNanos) -> {
            ticker.advanceNanos(delayNanos + by.toNanos());
            task.run();
            return () -> {};
        };
        return new RateLimiter(store, ticker, scheduler);
    }

    @Test
    void acquire_alarmAfterTheDeadline_chargesNothing() throws InterruptedException {
        Reservation reservation = late(Duration.ofSeconds(3)).acquire(Duration.ofSeconds(2), CHARGE);

        assertThat(reservation).isRefused();
        assertThat(reservation.settle(1)).isFalse();
        assertThat(store.peek(List.of(CHARGE))).hasRemaining(1);
    }

    @Test
    void acquireAsync_alarmAfterTheDeadline_chargesNothing() {
        CompletableFuture<Reservation> waiting =
                late(Duration.ofSeconds(3)).acquireAsync(Duration.ofSeconds(2), CHARGE);

        assertThat(waiting.join()).isRefused();
        assertThat(store.peek(List.of(CHARGE))).hasRemaining(1);
    }

    @ParameterizedTest
    @CsvSource({"10, true", "11, false"})
    void acquire_dueAtTheDeadline_isTakenIfTheAlarmIsHardlyLate(long millis, boolean admitted)
            throws InterruptedException {
        Reservation reservation = late(Duration.ofMillis(millis)).acquire(Duration.ofSeconds(1), CHARGE);

        assertThat(reservation.admitted()).isEqualTo(admitted);
    }
}
