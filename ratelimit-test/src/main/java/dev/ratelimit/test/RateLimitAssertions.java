package dev.ratelimit.test;

import dev.ratelimit.Decision;
import dev.ratelimit.Permit;
import org.jspecify.annotations.Nullable;

/** The entry point: {@code import static dev.ratelimit.test.RateLimitAssertions.assertThat}. */
public final class RateLimitAssertions {

    private RateLimitAssertions() {}

    /** Assertions on a decision. */
    public static DecisionAssert assertThat(@Nullable Decision actual) {
        return new DecisionAssert(actual);
    }

    /** Assertions on a permit's decision. */
    public static DecisionAssert assertThat(@Nullable Permit actual) {
        return new DecisionAssert(actual == null ? null : actual.decision());
    }
}
