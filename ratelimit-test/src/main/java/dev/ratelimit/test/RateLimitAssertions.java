package dev.ratelimit.test;

import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.Decision;
import dev.ratelimit.Reservation;
import org.jspecify.annotations.Nullable;

/** The entry point: {@code import static dev.ratelimit.test.RateLimitAssertions.assertThat}. */
@CheckReturnValue
public final class RateLimitAssertions {

    private RateLimitAssertions() {}

    /**
     * {@return assertions on a decision}
     *
     * @param actual {@code null} fails the first assertion
     */
    public static DecisionAssert assertThat(@Nullable Decision actual) {
        return new DecisionAssert(actual);
    }

    /**
     * {@return assertions on the decision of a reservation}
     *
     * @param actual {@code null} fails the first assertion
     */
    public static DecisionAssert assertThat(@Nullable Reservation actual) {
        return new DecisionAssert(actual == null ? null : actual.decision());
    }
}
