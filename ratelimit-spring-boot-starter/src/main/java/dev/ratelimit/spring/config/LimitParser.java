package dev.ratelimit.spring.config;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.Allowance;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads limits of one algorithm.
 *
 * @param algorithm which
 * @param options its options, which all limits have in common
 * @param store whether the store can keep them
 */
record LimitParser(Algorithm algorithm, LimitOptions options, LimitCheck store) {

    private static final String UNLIMITED = "unlimited";
    private static final String BLOCKED = "blocked";

    /**
     * Reads one limit or several.
     *
     * @throws IllegalArgumentException when the text is none, or the algorithm or the store does not have it
     */
    List<Limit> parse(String written) {
        List<Rate> rates = Rate.parseAll(written);
        if (rates.size() > 1 && options.burst() != null) {
            throw new IllegalArgumentException("burst is for one limit, and there are " + rates.size());
        }
        List<Limit> limits =
                rates.stream().map(rate -> algorithm.limit(rate, options)).toList();
        limits.forEach(store::check);
        return limits;
    }

    /** Reads what some keys may have: limits, {@code unlimited} or {@code blocked}. */
    Allowance allowance(String policy, String written, @Nullable Long burst) {
        return switch (written.strip()) {
            case UNLIMITED -> Allowance.Fixed.UNLIMITED;
            case BLOCKED -> Allowance.Fixed.BLOCKED;
            default -> new Allowance.Limited(new Policy(policy, withBurst(burst).parse(written)));
        };
    }

    /**
     * Checks what a request costs.
     *
     * @throws IllegalArgumentException when the policy could never admit it, or it is negative
     */
    static void checkPermits(long permits, Policy policy) {
        long most = policy.limits().stream().mapToLong(Limit::capacity).min().orElseThrow();
        if (permits < 0 || permits > most) {
            throw new IllegalArgumentException(
                    "permits must be from 0 to " + most + ", the most that can be had at once, but was " + permits);
        }
    }

    private LimitParser withBurst(@Nullable Long burst) {
        return new LimitParser(
                algorithm,
                new LimitOptions(burst, options.refill(), options.align(), options.zone(), options.rounding()),
                store);
    }
}
