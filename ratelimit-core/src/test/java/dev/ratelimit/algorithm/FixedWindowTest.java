package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
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
        assertThat(key.retryAfter(11, 0)).isEqualTo(LimitAlgorithm.NEVER);
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
    void adopt_longerWindow_keepsItsEnd() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);
        key.charge(3, 0);

        Key adopted = key.adoptedBy(FixedWindow.of(Rate.parse("10/minute")), 100);

        assertThat(adopted.remaining(100)).isEqualTo(7);
        assertThat(adopted.fullAfter(100)).isEqualTo(SECOND - 100);
    }

    @Test
    void adopt_shorterWindow_endsAPeriodFromNowAtTheLatest() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/minute")), 0);
        key.charge(3, 0);

        Key adopted = key.adoptedBy(FixedWindow.of(Rate.parse("10/second")), 100);

        assertThat(adopted.remaining(100)).isEqualTo(7);
        assertThat(adopted.fullAfter(100)).isEqualTo(SECOND);
    }

    @Test
    void adopt_otherWindowOnTheClock_keepsItsEnd() {
        Key key = new Key(FixedWindow.onClock(Rate.parse("10/second"), BERLIN), 100);
        key.charge(3, 100);

        Key adopted = key.adoptedBy(FixedWindow.onClock(Rate.parse("10/day"), BERLIN), 200);

        assertThat(adopted.remaining(200)).isEqualTo(7);
        assertThat(adopted.fullAfter(200)).isEqualTo(SECOND - 200);
    }

    @Test
    void adopt_otherClock_isDeclined() {
        LimitAlgorithm limit = FixedWindow.of(Rate.parse("10/minute"));
        LimitAlgorithm onClock = FixedWindow.onClock(Rate.parse("10/minute"), ZoneOffset.UTC);

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

    @ParameterizedTest
    @CsvSource({
        // clocks went back at 00:01, to 23:01 of the day before
        "America/St_Johns, PT24H, 2010-11-07T02:00:00Z, 2010-11-07T03:30:00Z",
        "America/St_Johns, PT24H, 2010-11-07T02:30:30Z, 2010-11-07T03:30:00Z",
        "America/St_Johns, PT24H, 2010-11-07T02:31:00Z, 2010-11-07T03:30:00Z",
        "America/St_Johns, PT24H, 2010-11-07T03:30:00Z, 2010-11-08T03:30:00Z",
        "America/Moncton, PT24H, 2005-10-30T03:30:00Z, 2005-10-30T04:00:00Z",
        "America/Goose_Bay, PT24H, 2010-11-07T03:30:00Z, 2010-11-07T04:00:00Z"
    })
    void onClock_dayBeginsTwice_theSecondTimeCounts(ZoneId zone, Duration window, Instant now, Instant end) {
        FixedWindow limit = FixedWindow.onClock(Rate.of(10, window), zone);

        assertThat(limit.windowEnd(nanos(now))).isEqualTo(nanos(end));
    }

    /** In the years in which these zones changed their clocks at midnight, by a part of an hour, or left a day out. */
    @ParameterizedTest
    @CsvSource({"America/St_Johns, 2010", "America/Moncton, 2005", "Antarctica/Casey, 2009", "Pacific/Apia, 2010"})
    void windowEnd_anyTime_isAheadAndTheNextWindowsStart(ZoneId zone, int year) {
        long step = Duration.ofMinutes(30).toNanos();
        for (String rate : List.of("1/day", "1/7d", "1/month")) {
            FixedWindow limit = FixedWindow.onClock(Rate.parse(rate), zone);
            long end = limit.windowEnd(nanos(Instant.parse(year + "-01-01T00:00:00Z")));
            for (long now = end - step; now < nanos(Instant.parse(year + 2 + "-02-01T00:00:00Z")); now += step) {
                if (now >= end) {
                    end = limit.windowEnd(end);
                }
                if (end <= now || limit.windowEnd(now) != end) { // four hundred thousand times
                    assertThat(limit.windowEnd(now))
                            .as("%s %s", rate, now)
                            .isEqualTo(end)
                            .isGreaterThan(now);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "UTC, 1/hour, PT1H",
        "UTC, 1/day, PT24H",
        "Europe/Berlin, 1/day, PT25H",
        "Europe/Berlin, 1/7d, PT169H",
        "Europe/Berlin, 1/month, PT745H",
        // two hours of summer time in 1988, and one each year since
        "America/St_Johns, 1/day, PT26H",
        "Asia/Kolkata, 1/day, PT24H"
    })
    void farthestEndNanos_zone_isItsLongestWindow(ZoneId zone, String rate, Duration farthest) {
        FixedWindow limit = FixedWindow.onClock(Rate.parse(rate), zone);

        assertThat(Duration.ofNanos(limit.farthestEndNanos())).isEqualTo(farthest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10/day", "10/month"})
    void onClock_refundAfterMidnight_notOfWhatWasChargedBefore(String rate) {
        long midnight = nanos(Instant.parse("2026-05-31T22:00:00Z"));
        Key key = new Key(FixedWindow.onClock(Rate.parse(rate), BERLIN), midnight);
        key.charge(10, midnight);

        key.refund(1, 2, midnight + 1);
        assertThat(key.remaining(midnight + 1)).isZero();
        key.refund(1, 1, midnight + 1);
        assertThat(key.remaining(midnight + 1)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10/day", "10/month"})
    void onClock_refundAfterTheClockWasSetBack_isOfTheWindowThatLastsFromNowOn(String rate) {
        long before = nanos(Instant.parse("2026-05-31T22:00:00Z"));
        long now = before - Duration.ofDays(100).toNanos() - 7;
        Key key = new Key(FixedWindow.onClock(Rate.parse(rate), BERLIN), before);
        key.charge(10, before);
        assertThat(key.charge(1, now)).isFalse();

        key.refund(1, 1, now);
        assertThat(key.remaining(now)).isZero();
        key.refund(1, 0, now);
        assertThat(key.remaining(now)).isEqualTo(1);
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

    @Test
    void refund_ofAll_leavesTheKeyFull() {
        Key key = new Key(FixedWindow.of(Rate.parse("10/second")), 0);
        key.charge(10, 0);

        key.refund(10, 5, 5);

        assertThat(key.fullAfter(5)).isZero();
    }

    @Test
    void zone_onlyOfDaysAndMonths() {
        ZoneId zurich = ZoneId.of("Europe/Zurich");

        assertThat(FixedWindow.onClock(Rate.parse("10/day"), zurich).zone()).isEqualTo(zurich);
        assertThat(FixedWindow.onClock(Rate.parse("10/month"), zurich).zone()).isEqualTo(zurich);
        assertThat(FixedWindow.onClock(Rate.parse("10/hour"), zurich).zone()).isNull();
    }

    @Test
    void onClock_longestWindow_isAccepted() {
        assertThat(FixedWindow.onClock(Rate.of(1, Duration.ofDays(36_500)), ZoneOffset.UTC)
                        .replenishNanos())
                .isEqualTo(Duration.ofDays(36_500).toNanos());
        Duration hours = Duration.ofHours(36_500 * 24 - 1);
        assertThat(FixedWindow.onClock(Rate.of(1, hours), ZoneOffset.UTC).replenishNanos())
                .isEqualTo(hours.toNanos());
    }
}
