package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the scripts receive about a limit, and the meaning of their numbers. */
class RedisReplyTest {

    private static final long MICROS = 1_000;
    private static final Rate RATE = Rate.parse("10/second");
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    /** The limit's status after a refusal, if its numbers come second in the answer. */
    private static LimitStatus refused(Limit limit, long permits, long now, long... numbers) {
        return status(limit, permits, false, now, numbers);
    }

    private static LimitStatus status(Limit limit, long permits, boolean admitted, long now, long... numbers) {
        long[] answer = new long[numbers.length + 1];
        System.arraycopy(numbers, 0, answer, 1, numbers.length);
        Policy policy = Policy.of("p", limit);
        LimitStatus status = RedisLimits.of(limit).status(policy.charge("k", permits), admitted, answer, 1, now);
        assertThat(status.policy()).isSameAs(policy);
        assertThat(status.limit()).isSameAs(limit);
        return status;
    }

    private static long[] times(LimitStatus status) {
        return new long[] {status.retryAfterNanos(), status.nextAvailableNanos(), status.fullAfterNanos()};
    }

    private static double[] sent(Limit limit, long permits, long nowMicros) {
        ByteBuffer numbers = ByteBuffer.wrap(RedisLimits.of(limit).numbers(permits, 0, nowMicros));
        return DoubleStream.generate(numbers::getDouble)
                .limit(numbers.capacity() / Double.BYTES)
                .toArray();
    }

    @Test
    void status_tokenBucket_isOfTheTicksThatAreMissing() {
        Limit limit = TokenBucket.of(Rate.parse("3/second"), 7);

        LimitStatus low = refused(limit, 2, 5, 6_500_000);
        assertThat(low.remaining()).isZero();
        assertThat(times(low)).containsExactly(500_000 * MICROS, 166_667 * MICROS, 2_166_667 * MICROS);
        LimitStatus some = status(limit, 1, true, 5, 500_000);
        assertThat(some.remaining()).isEqualTo(6);
        assertThat(times(some)).containsExactly(0, 166_667 * MICROS, 166_667 * MICROS);
        assertThat(times(status(limit, 0, true, 5, 0))).containsExactly(0, 0, 0);
        assertThat(refused(limit, 7, 5, 0).retryAfterNanos()).isZero();
        assertThat(refused(limit, 8, 5, 0).retryAfterNanos()).isEqualTo(LimitAlgorithm.NEVER);
    }

    @Test
    void status_slidingLog_isOfTheTimesThatHaveToExpire() {
        Limit limit = SlidingLog.of(RATE);
        long now = 1_000_000;

        LimitStatus several = refused(limit, 5, now, 8, 500_000, 300_000, 900_000);
        assertThat(several.remaining()).isEqualTo(2);
        assertThat(times(several)).containsExactly(500_000 * MICROS, 300_000 * MICROS, 900_000 * MICROS);
        assertThat(refused(limit, 3, now, 8, 500_000, 300_000, 900_000).retryAfterNanos())
                .isEqualTo(300_000 * MICROS);
        assertThat(refused(limit, 2, now, 8, 500_000, 300_000, 900_000).retryAfterNanos())
                .isZero();
        assertThat(times(status(limit, 0, true, now, 0, 0, 0, 0))).containsExactly(0, 0, 0);
    }

    @Test
    void status_fixedWindow_isOfItsEndAndWhatIsUsed() {
        LimitStatus status = refused(FixedWindow.of(RATE), 7, 1_000_000, 1_400_000, 4, 0);

        assertThat(status.remaining()).isEqualTo(6);
        assertThat(times(status)).containsExactly(400_000 * MICROS, 400_000 * MICROS, 400_000 * MICROS);
    }

    @Test
    void status_intervalBucket_isOfTheRefillsThatAreNeeded() {
        LimitStatus status =
                refused(TokenBucket.of(RATE, 20, TokenBucket.Refill.INTERVAL), 16, 1_500_000, 1_000_000, 15);

        assertThat(status.remaining()).isEqualTo(5);
        assertThat(times(status)).containsExactly(1_500_000 * MICROS, 500_000 * MICROS, 1_500_000 * MICROS);
    }

    @Test
    void status_slidingWindow_isWhatCoreSaysOfTheState() {
        SlidingWindow limit = SlidingWindow.of(RATE);
        long now = 1_300_001;
        long[] state = {1_000_000 * MICROS, 4, 6};

        LimitStatus status = refused(limit, 5, now, 1_000_000, 4, 6);

        assertThat(status.remaining()).isEqualTo(limit.remaining(state, 0, now * MICROS));
        assertThat(times(status))
                .containsExactly(
                        wholeMicros(limit.retryAfterNanos(state, 0, 5, now * MICROS)),
                        wholeMicros(limit.retryAfterNanos(state, 0, status.remaining() + 1, now * MICROS)),
                        wholeMicros(limit.fullAfterNanos(state, 0, now * MICROS)));
    }

    private static long wholeMicros(long nanos) {
        return (nanos + MICROS - 1) / MICROS * MICROS;
    }

    @Test
    void answers_eachKind_areItsNumbers() {
        assertThat(IntStream.of(
                        RedisLimits.of(TokenBucket.of(RATE)).numbers(),
                        RedisLimits.of(TokenBucket.of(RATE, 20, TokenBucket.Refill.INTERVAL))
                                .numbers(),
                        RedisLimits.of(FixedWindow.of(RATE)).numbers(),
                        RedisLimits.of(FixedWindow.onClock(Rate.parse("10/day"), BERLIN))
                                .numbers(),
                        RedisLimits.of(SlidingWindow.of(RATE)).numbers(),
                        RedisLimits.of(SlidingLog.of(RATE)).numbers()))
                .containsExactly(1, 2, 3, 3, 3, 4);
    }

    @Test
    void numbers_arePermitsAndParameters() {
        assertThat(sent(SlidingLog.of(RATE), 3, 0)).containsExactly(3, 10, 1_000_000, 0);
        assertThat(sent(SlidingLog.of(RATE), 11, 0)).containsExactly(11, 10, 1_000_000, 0);
        assertThat(sent(SlidingLog.of(RATE), Long.MAX_VALUE, 0)).containsExactly(11, 10, 1_000_000, 0);
        assertThat(sent(FixedWindow.onClock(Rate.parse("10/hour"), BERLIN), 1, 0))
                .containsExactly(1, 10, 3_600_000_000L, 1);
        assertThat(sent(FixedWindow.onClock(Rate.parse("10/day"), ZoneOffset.UTC), 1, 0))
                .containsExactly(1, 10, 86_400_000_000L, 1);
    }

    private static double[] boundaries(Limit limit, String now) {
        double[] sent = sent(limit, 1, micros(now));
        return Arrays.copyOfRange(sent, 4, sent.length);
    }

    @Test
    void numbers_calendar_haveAllBoundariesOfTwoDaysAround() {
        Stream<String> midnights = IntStream.rangeClosed(12, 17).mapToObj(day -> "2026-06-" + day + "T22:00:00Z");

        assertThat(boundaries(FixedWindow.onClock(Rate.parse("10/day"), BERLIN), "2026-06-15T12:00:00Z"))
                .containsExactly(midnights
                        .mapToDouble(midnight -> (double) micros(midnight))
                        .toArray());
    }

    @Test
    void numbers_calendar_twoDaysBeforeABoundary_haveTheNextToo() {
        Stream<String> firstDays = Stream.of("2026-04-30T22:00:00Z", "2026-05-31T22:00:00Z", "2026-06-30T22:00:00Z");

        assertThat(boundaries(FixedWindow.onClock(Rate.parse("10/month"), BERLIN), "2026-05-29T22:00:00Z"))
                .containsExactly(
                        firstDays.mapToDouble(day -> (double) micros(day)).toArray());
    }

    private static long micros(String instant) {
        return Instant.parse(instant).toEpochMilli() * 1_000;
    }
}
