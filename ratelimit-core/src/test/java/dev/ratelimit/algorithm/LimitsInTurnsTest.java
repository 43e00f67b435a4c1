package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.Seeds;
import java.time.ZoneOffset;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Two versions of a limit that charge the same key alternately, as during a rolling deployment. */
class LimitsInTurnsTest {

    private static final long SECOND = 1_000_000_000;

    static Stream<Arguments> versions() {
        return Stream.of(
                versions(log("20/5s"), log("21/5s")),
                versions(log("20/5s"), log("200/5s")),
                versions(log("20/5s"), log("24/6s")),
                versions(fixed("20/5s"), fixed("21/5s")),
                versions(fixed("20/5s"), fixed("24/6s")),
                versions(onClock("20/5s"), onClock("24/6s")),
                versions(sliding("20/5s"), sliding("21/5s")),
                versions(sliding("20/5s"), sliding("24/6s")),
                versions(TokenBucket.of(Rate.parse("20/5s")), TokenBucket.of(Rate.parse("24/6s"))),
                versions(interval("20/5s"), interval("21/5s")),
                versions(interval("20/5s"), interval("24/6s")));
    }

    private static Arguments versions(LimitAlgorithm one, LimitAlgorithm other) {
        return Arguments.of(one, other);
    }

    private static LimitAlgorithm log(String rate) {
        return SlidingLog.of(Rate.parse(rate));
    }

    private static LimitAlgorithm fixed(String rate) {
        return FixedWindow.of(Rate.parse(rate));
    }

    private static LimitAlgorithm onClock(String rate) {
        return FixedWindow.onClock(Rate.parse(rate), ZoneOffset.UTC);
    }

    private static LimitAlgorithm sliding(String rate) {
        return SlidingWindow.of(Rate.parse(rate));
    }

    private static LimitAlgorithm interval(String rate) {
        Rate parsed = Rate.parse(rate);
        return LimitAlgorithm.of(TokenBucket.of(parsed, parsed.permits(), TokenBucket.Refill.INTERVAL));
    }

    @ParameterizedTest
    @MethodSource("versions")
    void charge_halfOfWhatBothPermit_isNeverRefused(LimitAlgorithm one, LimitAlgorithm other) {
        Key key = new Key(one, 0);

        for (long i = 0; i < 100; i++) {
            long now = i * SECOND / 2;
            key = key.carriedTo(i % 2 == 0 ? one : other, now);
            assertThat(key.charge(1, now)).as("charge %s", i).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("versions")
    void charge_asMuchAsIsAdmitted_isOneLimitAPeriod(LimitAlgorithm one, LimitAlgorithm other) {
        Key key = new Key(one, 0);
        double admitted = 0;

        for (long i = 0; i < 5_000; i++) {
            long now = i * SECOND / 100;
            LimitAlgorithm limit = i % 2 == 0 ? one : other;
            Key converted = key.carriedTo(limit, now);
            if (converted.charge(1, now)) {
                key = converted;
                admitted += 1.0 / limit.capacity();
            }
        }

        // ten periods of 5 s, after a first burst; one of 200 permits counts as one of 20
        assertThat(admitted).isBetween(10 * 0.55, 12.0);
    }

    @Test
    void carriedTo_logs_waitingAndConvertingCanBeExchanged() {
        for (int history = 0; history < 500; history++) {
            long seed = Seeds.next();
            Random random = new Random(seed);
            LimitAlgorithm log = log(1 + random.nextInt(30) + "/s");
            LimitAlgorithm other = log(1 + random.nextInt(300) + "/s");
            Key key = new Key(log, 0);
            long now = 0;
            for (int i = 0; i < 40; i++) {
                now += random.nextLong(SECOND / 20);
                key.charge(1 + random.nextInt(3), now);
            }
            Key converted = key.carriedTo(other, now);

            for (long later = now; later < now + SECOND + 2; later += 1 + random.nextLong(SECOND / 20)) {
                Key convertedLater = key.carriedTo(other, later);

                assertThat(converted.remaining(later)).as("seed %s", seed).isEqualTo(convertedLater.remaining(later));
                assertThat(converted.fullAfter(later)).as("seed %s", seed).isEqualTo(convertedLater.fullAfter(later));
            }
        }
    }

    @Test
    void carriedTo_longerLogAndBack_permitsComeBackWhenTheyWouldHave() {
        Key key = new Key(log("10/minute"), 0);
        key.charge(3, 0);
        key.charge(4, 20 * SECOND);

        Key back = key.carriedTo(log("100/hour"), 30 * SECOND).carriedTo(log("10/minute"), 40 * SECOND);

        assertThat(back.remaining(40 * SECOND)).isEqualTo(3);
        assertThat(back.remaining(60 * SECOND)).isEqualTo(6);
        assertThat(back.remaining(80 * SECOND)).isEqualTo(10);
    }

    @Test
    void carriedTo_shorterLog_permitsComeBackWithinItsPeriod() {
        Key key = new Key(log("10/hour"), 0);
        key.charge(3, 0);
        key.charge(4, 3_590 * SECOND);

        Key shorter = key.carriedTo(log("10/minute"), 3_595 * SECOND);

        assertThat(shorter.remaining(3_595 * SECOND)).isEqualTo(3);
        assertThat(shorter.remaining(3_600 * SECOND)).isEqualTo(6);
        assertThat(shorter.remaining(3_655 * SECOND)).isEqualTo(10);
    }

    @Test
    void refund_logOfOtherSize_returnsTheShare() {
        LimitAlgorithm log = log("100/hour");
        LimitAlgorithm half = log("50/hour");
        Key key = new Key(log, 0);
        key.charge(20, 0);

        Key changed = key.carriedTo(half, SECOND);
        changed.refund(log, 20, SECOND, SECOND);

        assertThat(changed.remaining(SECOND)).isEqualTo(50);
    }
}
