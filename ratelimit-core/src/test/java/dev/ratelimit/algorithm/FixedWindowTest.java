package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FixedWindowTest {

    private static final long SECOND = 1_000_000_000;
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    @Test
    void charge_firstPermit_opensTheWindow() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);
        key.charge(4, 700);

        assertThat(key.charge(6, SECOND)).isTrue();
        assertThat(key.charge(1, SECOND)).isFalse();
        assertThat(key.retryAfter(1, SECOND)).isEqualTo(700);
        assertThat(key.fullAfter(SECOND)).isEqualTo(700);
        assertThat(key.charge(1, SECOND + 699)).isFalse();
        assertThat(key.charge(10, SECOND + 700)).isTrue();
    }

    @Test
    void charge_noPermits_opensNoWindow() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);

        assertThat(key.charge(0, 0)).isTrue();
        key.charge(1, SECOND / 2);

        assertThat(key.fullAfter(SECOND)).isEqualTo(SECOND / 2);
    }

    @Test
    void charge_moreThanTheLimit_isNeverAdmitted() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);

        assertThat(key.charge(11, 0)).isFalse();
        assertThat(key.retryAfter(11, 0)).isEqualTo(Limit.NEVER);
    }

    @Test
    void refund_onlyToTheSameWindow() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);
        key.charge(4, 0);
        key.refund(3, 5, 5);
        assertThat(key.remaining(5)).isEqualTo(9);
        key.charge(10, SECOND);

        key.refund(1, SECOND, SECOND);

        assertThat(key.remaining(SECOND)).isZero();
    }

    @Test
    void adopt_otherLimit_keepsTheWindowAndTheShareThatIsUsed() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);
        key.charge(3, 0);

        Key adopted = key.adoptedBy(FixedWindow.of(Rate.parse("5/second")), 100);

        assertThat(adopted.remaining(100)).isEqualTo(3);
        assertThat(adopted.fullAfter(100)).isEqualTo(SECOND - 100);
    }

    @Test
    void adopt_otherWindow_isDeclined() {
        Limit limit = FixedWindow.of(Rate.parse("10/minute"));
        Limit onClock = FixedWindow.onClock(Rate.parse("10/minute"), ZoneOffset.UTC);

        assertThat(limit.adopt(new long[2], 0, FixedWindow.of(Rate.parse("10/second")), new long[2], 0))
                .isFalse();
        assertThat(limit.adopt(new long[2], 0, onClock, new long[2], 0)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "PT10S, 2026-03-01T10:00:00Z, 2026-03-01T10:00:10Z",
        "PT10S, 2026-03-01T10:00:09.999999999Z, 2026-03-01T10:00:10Z",
        "PT1H, 2026-03-01T10:59:59Z, 2026-03-01T11:00:00Z",
        "PT7H, 1970-01-01T06:00:00Z, 1970-01-01T07:00:00Z",
        "PT1H, 1969-12-31T23:30:00Z, 1970-01-01T00:00:00Z"
    })
    void onClock_notWholeDays_windowsAreMultiplesSinceTheEpoch(Duration window, Instant now, Instant end) {
        Key key = new Key(FixedWindow.onClock(Rate.of(1, window), BERLIN), nanos(now));
        key.charge(1, nanos(now));

        assertThat(later(now, key.fullAfter(nanos(now)))).isEqualTo(end);
    }

    @ParameterizedTest
    @CsvSource({
        "PT24H, UTC, 2026-03-01T10:00:00Z, 2026-03-02T00:00:00Z",
        "PT24H, Europe/Berlin, 2026-03-01T10:00:00Z, 2026-03-01T23:00:00Z",
        "PT24H, Europe/Berlin, 2026-03-01T23:00:00Z, 2026-03-02T23:00:00Z",
        "PT24H, Europe/Berlin, 2026-07-01T10:00:00Z, 2026-07-01T22:00:00Z",
        "PT24H, Asia/Kolkata, 2026-03-01T10:00:00Z, 2026-03-01T18:30:00Z",
        "PT24H, Pacific/Auckland, 2026-03-01T10:00:00Z, 2026-03-01T11:00:00Z",
        "PT168H, UTC, 1970-01-07T10:00:00Z, 1970-01-08T00:00:00Z",
        "PT168H, Europe/Berlin, 2026-03-05T10:00:00Z, 2026-03-11T23:00:00Z"
    })
    void onClock_wholeDays_windowsStartAtTheZonesMidnight(Duration window, ZoneId zone, Instant now, Instant end) {
        Key key = new Key(FixedWindow.onClock(Rate.of(1, window), zone), nanos(now));
        key.charge(1, nanos(now));

        assertThat(later(now, key.fullAfter(nanos(now)))).isEqualTo(end);
    }

    @ParameterizedTest
    @CsvSource({
        // clocks go forward: the day has 23 hours
        "2026-03-28T23:00:00Z, 2026-03-29T22:00:00Z",
        "2026-03-29T01:00:00Z, 2026-03-29T22:00:00Z",
        // clocks go back: the day has 25
        "2026-10-24T22:00:00Z, 2026-10-25T23:00:00Z",
        "2026-10-25T00:30:00Z, 2026-10-25T23:00:00Z"
    })
    void onClock_clocksChange_theDayIsShorterOrLonger(Instant now, Instant end) {
        Key key = new Key(FixedWindow.onClock(Rate.parse("10/day"), BERLIN), nanos(now));
        key.charge(10, nanos(now));

        assertThat(later(now, key.retryAfter(1, nanos(now)))).isEqualTo(end);
        assertThat(key.charge(1, nanos(end) - 1)).isFalse();
        assertThat(key.charge(10, nanos(end))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "UTC, 2026-02-14T12:00:00Z, 2026-03-01T00:00:00Z",
        "UTC, 2028-02-29T23:59:59Z, 2028-03-01T00:00:00Z",
        "UTC, 2026-12-01T00:00:00Z, 2027-01-01T00:00:00Z",
        "Europe/Berlin, 2026-01-31T22:59:59Z, 2026-01-31T23:00:00Z",
        "Europe/Berlin, 2026-01-31T23:00:00Z, 2026-02-28T23:00:00Z",
        "Europe/Berlin, 2026-10-01T00:00:00Z, 2026-10-31T23:00:00Z"
    })
    void onClock_month_lastsUntilTheFirstOfTheNext(ZoneId zone, Instant now, Instant end) {
        Key key = new Key(FixedWindow.onClock(Rate.parse("10/month"), zone), nanos(now));
        key.charge(10, nanos(now));

        assertThat(later(now, key.retryAfter(1, nanos(now)))).isEqualTo(end);
        assertThat(key.charge(10, nanos(end))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"10/hour", "10/day", "10/month"})
    void onClock_refund_onlyToTheSameWindow(String rate) {
        long boundary = nanos(Instant.parse("2026-06-01T00:00:00Z"));
        Key key = new Key(FixedWindow.onClock(Rate.parse(rate), ZoneOffset.UTC), boundary);
        key.charge(10, boundary);

        key.refund(1, 1, boundary);
        assertThat(key.remaining(boundary)).isZero();
        key.refund(1, 0, boundary);
        assertThat(key.remaining(boundary)).isEqualTo(1);
    }

    @Test
    void onClock_clockSetBackALittle_creditsNothing() {
        long now = nanos(Instant.parse("2026-03-01T10:05:00Z"));
        Key key = new Key(FixedWindow.onClock(Rate.parse("10/hour"), ZoneOffset.UTC), now);
        key.charge(10, now);

        long back = now - Duration.ofMinutes(50).toNanos();

        assertThat(key.charge(1, back)).isFalse();
        assertThat(key.charge(1, now)).isFalse();
    }

    @Test
    void onClock_clockSetBackALot_locksNobodyOut() {
        long now = nanos(Instant.parse("2026-03-01T10:05:00Z"));
        Key key = new Key(FixedWindow.onClock(Rate.parse("10/hour"), ZoneOffset.UTC), now);
        key.charge(10, now);

        long back = now - Duration.ofHours(24).toNanos();

        assertThat(key.fullAfter(back)).isZero();
        assertThat(key.charge(10, back)).isTrue();
        assertThat(key.charge(1, back)).isFalse();
    }

    @Test
    void onClock_onlyWallTime() {
        assertThat(FixedWindow.onClock(Rate.parse("10/hour"), BERLIN).wallClock())
                .isTrue();
        assertThat(FixedWindow.of(Rate.parse("10/hour")).wallClock()).isFalse();
    }

    @Test
    void onClock_tooLong_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FixedWindow.onClock(Rate.parse("1/36501d"), BERLIN))
                .withMessage("period must be at most 36500 days with align: clock but was 36501");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FixedWindow.onClock(Rate.parse("1/876001h"), BERLIN))
                .withMessage("period must be at most 36500 days with align: clock but was PT876001H");
    }

    @Test
    void of_month_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FixedWindow.of(Rate.parse("10/month")))
                .withMessage("months follow the calendar; for 10/month set align: clock");
    }

    @Test
    void toString_namesTheAlignment() {
        assertThat(FixedWindow.of(Rate.parse("10/day"))).hasToString("10/day (fixed-window)");
        assertThat(FixedWindow.onClock(Rate.parse("10/hour"), BERLIN))
                .hasToString("10/hour (fixed-window, align clock)");
        assertThat(FixedWindow.onClock(Rate.parse("10/day"), BERLIN))
                .hasToString("10/day (fixed-window, align clock, zone Europe/Berlin)");
        assertThat(FixedWindow.onClock(Rate.parse("10/month"), ZoneOffset.UTC))
                .hasToString("10/month (fixed-window, align clock, zone Z)");
    }

    private static long nanos(Instant instant) {
        return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), SECOND), instant.getNano());
    }

    private static Instant later(Instant now, long nanos) {
        return now.plusNanos(nanos);
    }
}
