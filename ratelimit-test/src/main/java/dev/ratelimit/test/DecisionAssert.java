package dev.ratelimit.test;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * Assertions on a {@link Decision}. Each throws an {@link AssertionError} if it does not hold, also for {@code null}.
 */
public final class DecisionAssert extends AbstractAssert<DecisionAssert, Decision> {

    DecisionAssert(@Nullable Decision actual) {
        super(actual, DecisionAssert.class);
    }

    /**
     * Verifies that all charges were taken.
     *
     * @return these assertions
     */
    public DecisionAssert isAdmitted() {
        isNotNull();
        if (!actual.admitted()) {
            failWithMessage("Expected to be admitted but was refused by %s", names(actual.violated()));
        }
        return this;
    }

    /**
     * Verifies that no charge was taken.
     *
     * @return these assertions
     */
    public DecisionAssert isRefused() {
        isNotNull();
        if (actual.admitted()) {
            failWithMessage("Expected to be refused but was admitted");
        }
        return this;
    }

    /**
     * Verifies that exactly these policies refused, longest wait first.
     *
     * @param policies their names, each once
     * @return these assertions
     */
    public DecisionAssert isRefusedBy(String... policies) {
        isRefused();
        List<String> violated = names(actual.violated());
        if (!violated.equals(List.of(policies))) {
            failWithMessage("Expected to be refused by %s but was refused by %s", List.of(policies), violated);
        }
        return this;
    }

    /**
     * Verifies the wait, to the nanosecond.
     *
     * @param wait zero if admitted
     * @return these assertions
     */
    public DecisionAssert hasRetryAfter(Duration wait) {
        isNotNull();
        if (actual.retryAfterNanos() != wait.toNanos()) {
            failWithMessage("Expected to retry after %s but was %s", wait, actual.retryAfter());
        }
        return this;
    }

    /**
     * Verifies that no wait helps.
     *
     * @return these assertions
     */
    public DecisionAssert isNever() {
        isNotNull();
        if (actual.retryAfterNanos() != LimitAlgorithm.NEVER) {
            failWithMessage("Expected never to be admitted but could retry after %s", actual.retryAfter());
        }
        return this;
    }

    /**
     * Verifies the remaining permits of the limits.
     *
     * @param remaining one number for each limit, in the order of the decision
     * @return these assertions
     */
    public DecisionAssert hasRemaining(long... remaining) {
        isNotNull();
        long[] left = actual.limits().stream().mapToLong(LimitStatus::remaining).toArray();
        if (!Arrays.equals(left, remaining)) {
            failWithMessage(
                    "Expected %s permits to remain but was %s", Arrays.toString(remaining), Arrays.toString(left));
        }
        return this;
    }

    /**
     * Verifies the times after which the limits are full, to the nanosecond.
     *
     * @param times one for each limit, in the order of the decision
     * @return these assertions
     */
    public DecisionAssert isFullAfter(Duration... times) {
        isNotNull();
        List<Duration> full =
                actual.limits().stream().map(LimitStatus::fullAfter).toList();
        if (!full.equals(List.of(times))) {
            failWithMessage("Expected to be full after %s but was %s", List.of(times), full);
        }
        return this;
    }

    private static List<String> names(List<LimitStatus> limits) {
        return limits.stream().map(limit -> limit.policy().name()).distinct().toList();
    }
}
