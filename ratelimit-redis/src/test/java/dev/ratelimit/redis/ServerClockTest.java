package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ServerClockTest {

    private static final Duration DEADLINE = Duration.ofMillis(50);
    private static final long SERVER_MICROS = 1_800_000_000_000_000L;

    private final FakeTicker time = new FakeTicker();
    private final ServerClock clock = new ServerClock(time, DEADLINE.toNanos());

    @Test
    void expiryMicros_nothingKnown_isNever() {
        assertThat(clock.expiryMicros()).isGreaterThan(4_000_000_000_000_000L);
    }

    @Test
    void expiryMicros_afterAnAnswer_isTheDeadlineByTheServersClock() {
        long written = time.nanos();
        time.advance(Duration.ofMillis(30));
        clock.heard(written, SERVER_MICROS + 15_000);

        // it may have been read at once, or just before the answer came
        assertThat(clock.expiryMicros()).isBetween(SERVER_MICROS + 80_000, SERVER_MICROS + 15_000 + 80_000 + 2 * 4096);
    }

    @Test
    void expiryMicros_askedAgain_isAnotherNumber() {
        clock.heard(time.nanos(), SERVER_MICROS);

        assertThat(LongStream.generate(clock::expiryMicros).limit(4_000)).doesNotHaveDuplicates();
    }

    @Test
    void expiryMicros_serversClockIsSet_follows() {
        clock.heard(time.nanos(), SERVER_MICROS);
        clock.heard(time.nanos(), SERVER_MICROS - 3_600_000_000L);

        assertThat(clock.expiryMicros()).isLessThan(SERVER_MICROS - 3_500_000_000L);
    }

    @Test
    void expiryMicros_tickerWrapsAround_isTheDeadlineByTheServersClock() {
        time.advanceNanos(Long.MAX_VALUE - time.nanos());
        long written = time.nanos();
        time.advance(Duration.ofSeconds(1));
        assertThat(time.nanos()).isNegative();
        clock.heard(written, SERVER_MICROS);

        assertThat(clock.expiryMicros()).isBetween(SERVER_MICROS + 1_050_000, SERVER_MICROS + 1_050_000 + 2 * 4096);
    }

    @Test
    @DisplayName("an answer that took long, as after a hang, does not postpone expiries")
    void expiryMicros_afterALateAnswer_isAsBefore() {
        clock.heard(time.nanos(), SERVER_MICROS);
        long written = time.nanos();
        time.advance(Duration.ofSeconds(5));
        clock.heard(written, SERVER_MICROS + 5_000_000);

        assertThat(clock.expiryMicros()).isBetween(SERVER_MICROS + 5_050_000, SERVER_MICROS + 5_050_000 + 2 * 4096);
    }

    @Test
    void expiryMicros_serversClockIsSetForwardBeforeALateAnswer_follows() {
        clock.heard(time.nanos(), SERVER_MICROS);
        long written = time.nanos();
        time.advance(Duration.ofSeconds(5));
        clock.heard(written, SERVER_MICROS + 3_605_000_000L);

        assertThat(clock.expiryMicros()).isGreaterThan(SERVER_MICROS + 3_605_050_000L);
    }

    @Test
    void expiryMicros_longestDeadline_isEarlierThanNeverAndExact() {
        ServerClock patient = new ServerClock(time, Long.MAX_VALUE);
        long never = patient.expiryMicros();
        patient.heard(time.nanos(), SERVER_MICROS);

        assertThat(patient.expiryMicros()).isBetween(SERVER_MICROS, never);
    }

    @Test
    void expiryMicros_anyNumber_isExactAsADouble() {
        ServerClock unknown = new ServerClock(time, Duration.ofHours(1).toNanos());
        for (int i = 0; i < 5_000; i++) {
            long expiry = unknown.expiryMicros();
            assertThat((long) (double) expiry).isEqualTo(expiry);
        }
    }
}
