package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PenaltyTest {

    private static final Limit LIMIT = TokenBucket.of(Rate.parse("5/minute"));
    private static final Duration PENALTY = Duration.ofMinutes(10);

    private static Penalty of(Policy policy) {
        return Objects.requireNonNull(policy.penalty());
    }

    @Test
    void withPenalty_severalLimits_isCarriedByTheSlowest() {
        Policy policy = Policy.of("login", LIMIT, FixedWindow.of(Rate.parse("100/day")));

        Policy penalized = policy.withPenalty(PENALTY);

        assertThat(of(penalized).limit()).isEqualTo(policy.limits().get(1));
        assertThat(of(penalized).duration()).isEqualTo(PENALTY);
        assertThat(penalized.limits()).containsExactly(LIMIT, of(penalized));
        assertThat(penalized).isEqualTo(policy.withPenalty(PENALTY)).isNotEqualTo(policy);
    }

    @Test
    void withPenalty_again_replacesIt() {
        Policy policy = Policy.of("login", LIMIT).withPenalty(PENALTY);

        Policy shorter = policy.withPenalty(Duration.ofSeconds(90));

        assertThat(shorter).isEqualTo(Policy.of("login", LIMIT).withPenalty(Duration.ofSeconds(90)));
        assertThat(shorter.limits()).hasToString("[5/minute (token-bucket) with a penalty of 90s]");
        assertThat(shorter).isNotEqualTo(policy).doesNotHaveSameHashCodeAs(policy);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT8760H0.000000001S", "P200000D"})
    void withPenalty_tooShortOrTooLong_isRejected(Duration penalty) {
        Policy policy = Policy.of("login", LIMIT);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> policy.withPenalty(penalty))
                .withMessage("penalty must be above 0 and at most 365 days but was " + penalty);
        assertThat(of(policy.withPenalty(Duration.ofDays(365))).duration()).hasDays(365);
    }

    @Test
    void policy_penaltyOfAnotherLimitThanTheSlowest_isRejected() {
        Limit penalty = of(Policy.of("any", LIMIT).withPenalty(PENALTY));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.of("login", LIMIT, penalty))
                .withMessage(
                        "only the limit with the longest period may have a penalty in policy login: it is for the whole"
                                + " policy");
    }

    @Test
    void scaled_share_keepsThePenalty() {
        Penalty half = of(Policy.of("p", TokenBucket.of(Rate.parse("10/minute")))
                        .withPenalty(PENALTY))
                .scaled(0.5);

        assertThat(half).isEqualTo(of(Policy.of("p", LIMIT).withPenalty(PENALTY)));
    }

    @Test
    void carriedTo_otherTimeline_keepsTheRest() {
        long monotonic = Long.MAX_VALUE - 5;
        long epoch = Duration.ofDays(20_000).toNanos();
        Penalty first = of(Policy.of("p", FixedWindow.of(Rate.parse("5/hour"))).withPenalty(PENALTY));
        Penalty other = of(Policy.of("p", FixedWindow.onClock(Rate.parse("5/hour"), ZoneOffset.UTC))
                .withPenalty(PENALTY));
        long[] state = new long[3];
        first.clear(state, 0, monotonic);
        first.refuse(state, 0, monotonic);

        long[] carried = new LimitState(first, state, 0).carriedTo(other, monotonic + 7, epoch);

        assertThat(other.retryAfterNanos(carried, 0, 1, epoch)).isEqualTo(PENALTY.toNanos() - 7);
        assertThat(other.starts(carried, 0, epoch)).isFalse();
    }

    @Test
    void carriedTo_neverPenalized_isNotPenalized() {
        Penalty penalty = of(Policy.of("p", LIMIT).withPenalty(PENALTY));
        long[] state = new long[penalty.stateSize()];
        penalty.clear(state, 0, 0);

        long[] carried = new LimitState(penalty, state, 0)
                .carriedTo(of(Policy.of("p", LIMIT).withPenalty(Duration.ofDays(365))), 5, Long.MIN_VALUE);

        assertThat(penalty.admits(carried, 0, 5, Long.MIN_VALUE)).isTrue();
        assertThat(penalty.starts(carried, 0, Long.MIN_VALUE)).isTrue();
    }

    /** The definition: what a penalty adds to a limit, in words that only the history needs. */
    private static final class Reference {
        final LimitAlgorithm limit;
        final long penalty;
        long[] state;
        boolean penalized;
        long refusedAt;

        Reference(LimitAlgorithm limit, long penalty, long now) {
            this.limit = limit;
            this.penalty = penalty;
            this.state = new long[limit.stateSize()];
            limit.clear(state, 0, now);
        }

        long left(long now) {
            return penalized && now - refusedAt < penalty ? penalty - (now - refusedAt) : 0;
        }

        boolean charge(long permits, long now) {
            boolean admits = limit.admits(state, 0, permits, now) && (permits == 0 || left(now) == 0);
            if (admits && permits > 0) {
                state = limit.grow(state, 0, permits, now);
                limit.charge(state, 0, permits, now);
                penalized = false;
            } else if (!admits && permits > 0) {
                boolean over = left(now) == 0 && limit.fullAfterNanos(state, 0, now) == 0;
                if (!penalized || over) {
                    penalized = true;
                    refusedAt = now;
                }
            }
            return admits;
        }
    }

    static Stream<Function<Rate, LimitAlgorithm>> limits() {
        return Stream.of(
                TokenBucket::of,
                rate -> TokenBucket.of(rate, 3, TokenBucket.Refill.INTERVAL),
                FixedWindow::of,
                SlidingWindow::of,
                SlidingLog::of);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void anyHistory_equalsTheDefinition(Function<Rate, LimitAlgorithm> limits) {
        for (int round = 0; round < 500; round++) {
            long seed = Seeds.next();
            Random random = new Random(seed);
            LimitAlgorithm inside =
                    limits.apply(Rate.of(1L + random.nextInt(8), Duration.ofNanos(1L + random.nextInt(60))));
            Duration duration = Duration.ofNanos(1L + random.nextInt(random.nextBoolean() ? 10 : 200));
            Penalty limit = of(Policy.of("p", inside).withPenalty(duration));
            int at = inside.grows() ? 0 : random.nextInt(3);
            long now = random.nextInt(3) == 0 ? Long.MAX_VALUE - 100 : random.nextLong();
            Reference reference = new Reference(inside, duration.toNanos(), now);
            long[] state = new long[at + limit.stateSize()];
            limit.clear(state, at, now);

            for (int step = 0; step < 60; step++) {
                now += random.nextInt(3) == 0 ? 0 : random.nextInt(random.nextInt(4) == 0 ? 250 : 15);
                long permits = random.nextInt((int) inside.capacity() + 2);
                boolean admitted = limit.admits(state, at, permits, now);
                if (admitted && permits > 0) {
                    state = limit.grow(state, at, permits, now);
                    limit.charge(state, at, permits, now);
                } else if (permits > 0) {
                    limit.refuse(state, at, now);
                }

                String where = limit + ", seed " + seed + ", step " + step;
                assertThat(admitted).as(where).isEqualTo(reference.charge(permits, now));
                assertSame(limit, state, at, reference, permits, now, where);
                if (limit.fullAfterNanos(state, at, now) == 0 && random.nextBoolean()) {
                    limit.clear(state, at, now - random.nextInt(50));
                }
            }
        }
    }

    private static void assertSame(
            Penalty limit, long[] state, int at, Reference reference, long permits, long now, String where) {
        long left = reference.left(now);
        long remaining = left > 0 ? 0 : reference.limit.remaining(reference.state, 0, now);
        assertThat(List.of(
                        limit.remaining(state, at, now),
                        limit.retryAfterNanos(state, at, permits, now),
                        limit.fullAfterNanos(state, at, now)))
                .as(where)
                .containsExactly(
                        remaining,
                        Math.max(
                                permits == 0 ? 0 : left,
                                reference.limit.retryAfterNanos(reference.state, 0, permits, now)),
                        Math.max(left, reference.limit.fullAfterNanos(reference.state, 0, now)));
    }
}
