package dev.ratelimit.spring.rules.config;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.algorithm.LimitOptions;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.Spelling;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parses limits of one algorithm.
 *
 * @param algorithm the algorithm
 * @param options the options of all limits
 * @param maxHold how long a permit of a concurrency limit can be held
 * @param store throws an {@link IllegalArgumentException} for a limit that the store cannot keep
 */
record LimitParser(Algorithm algorithm, LimitOptions options, Duration maxHold, Consumer<Limit> store) {

    private static final String UNLIMITED = "unlimited";
    private static final String BLOCKED = "blocked";

    /**
     * The algorithm of this name.
     *
     * @throws IllegalArgumentException if there is none; the message lists the algorithms
     */
    static Algorithm algorithm(String name) {
        try {
            return Algorithm.named(name);
        } catch (IllegalArgumentException e) {
            String hint = Spelling.hint(
                    name, Stream.of(Algorithm.values()).map(Algorithm::toString).toList());
            String message = Quotation.message(e.getMessage());
            throw new IllegalArgumentException(message.replaceFirst("(?=;)", Matcher.quoteReplacement(hint)), e);
        }
    }

    /**
     * Parses one or several limits.
     *
     * @throws IllegalArgumentException if the text is not a limit, or the algorithm or the store does not support it
     */
    List<Limit> parse(String written) {
        List<Rate> rates = rates(written);
        if (rates.size() > 1 && options.names().contains("burst")) {
            throw new IllegalArgumentException("burst needs a single limit, but there are " + rates.size());
        }
        List<Limit> limits =
                rates.stream().map(rate -> algorithm.limit(rate, options)).toList();
        limits.forEach(store);
        return limits;
    }

    /** The rates in this text; for a concurrency limit, the text is only a number. */
    List<Rate> rates(String written) {
        if (algorithm != Algorithm.CONCURRENCY) {
            return Rate.parseAll(written);
        }
        try {
            return List.of(Rate.of(Long.parseLong(written.strip()), maxHold));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    Quotation.of(written) + " is not a number of requests at once; write a number only, such as 20", e);
        }
    }

    /** Whether this text means no limit or no requests at all. */
    boolean isFixed(String written) {
        return written.strip().equals(UNLIMITED) || written.strip().equals(BLOCKED);
    }

    /** Parses the limits of some keys: limits, {@code unlimited} or {@code blocked}. */
    LimitOverride override(String policy, String written) {
        return switch (written.strip()) {
            case UNLIMITED -> LimitOverride.Fixed.UNLIMITED;
            case BLOCKED -> LimitOverride.Fixed.BLOCKED;
            default -> new LimitOverride.Limited(new Policy(policy, parse(written)));
        };
    }

    /**
     * Checks the cost of a request.
     *
     * @throws IllegalArgumentException if it is negative, or more than the policy can ever admit
     */
    static void checkPermits(long permits, Policy policy) {
        long max = policy.limits().stream().mapToLong(Limit::capacity).min().orElseThrow();
        if (permits < 0 || permits > max) {
            throw new IllegalArgumentException(
                    "permits must be from 0 to " + max + ", the maximum that the limit admits at once, but was "
                            + permits + "; write fewer permits or a higher limit");
        }
    }

    /** A parser of limits with another option; {@code null} removes it. */
    LimitParser with(String option, @Nullable Object value) {
        return new LimitParser(algorithm, options.with(option, value), maxHold, store);
    }
}
