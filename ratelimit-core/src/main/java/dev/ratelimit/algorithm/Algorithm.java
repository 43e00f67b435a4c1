package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow.Align;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The registry of algorithms: the names that configuration uses, and the options that each has. */
public enum Algorithm {
    /** {@link TokenBucket}. */
    TOKEN_BUCKET(List.of("burst", "refill"), Algorithm::tokenBucket),
    /** {@link FixedWindow}. */
    FIXED_WINDOW(List.of("align", "zone"), Algorithm::fixedWindow),
    /** {@link SlidingWindow}. */
    SLIDING_WINDOW(List.of("rounding"), Algorithm::slidingWindow),
    /** {@link SlidingLog}. */
    SLIDING_LOG(List.of(), (rate, options) -> SlidingLog.of(rate)),
    /** {@link Concurrency}: the permits of the rate at once, each for at most its period. */
    CONCURRENCY(List.of(), (rate, options) -> Concurrency.of(rate));

    private final List<String> options;
    private final BiFunction<Rate, LimitOptions, Limit> factory;

    Algorithm(List<String> options, BiFunction<Rate, LimitOptions, Limit> factory) {
        this.options = options;
        this.factory = factory;
    }

    /**
     * {@return the algorithm of this name}
     *
     * @param name as in configuration, such as {@code token-bucket}
     * @throws IllegalArgumentException if there is none; the message lists the algorithms
     */
    public static Algorithm named(String name) {
        return Arrays.stream(values())
                .filter(algorithm -> algorithm.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown algorithm '" + name + "'; write "
                        + names()
                        + (name.equals("leaky-bucket") ? " (a leaky bucket is called token-bucket)" : "")));
    }

    private static String names() {
        int last = values().length - 1;
        return Arrays.stream(values()).limit(last).map(Algorithm::toString).collect(Collectors.joining(", ")) + " or "
                + values()[last];
    }

    /**
     * {@return a limit of this algorithm}
     *
     * @param rate the permits and the period
     * @param given the options that are set; all others have their defaults
     * @throws IllegalArgumentException if the algorithm does not have an option, an option has no such value, or the
     *     algorithm does not support the rate
     */
    public Limit limit(Rate rate, LimitOptions given) {
        String foreign = foreignOption(given);
        if (foreign != null) {
            throw new IllegalArgumentException(foreign + " is not an option of " + this + ", which has "
                    + (options.isEmpty() ? "none" : String.join(" and ", options)) + "; " + owner(foreign)
                    + "remove it");
        }
        return factory.apply(rate, given);
    }

    /** What to write to use the option; empty if no algorithm has it. */
    private static String owner(String option) {
        return Arrays.stream(values())
                .filter(algorithm -> algorithm.options.contains(option))
                .map(algorithm ->
                        "write algorithm: " + algorithm + (option.equals("zone") ? " and align: clock" : "") + ", or ")
                .findFirst()
                .orElse("");
    }

    /**
     * {@return the first option that this algorithm does not have, or {@code null}}
     *
     * @param given the options that are set
     */
    public @Nullable String foreignOption(LimitOptions given) {
        return given.names().stream()
                .filter(option -> !options.contains(option))
                .findFirst()
                .orElse(null);
    }

    /** The name as in configuration: {@code token-bucket}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Limit tokenBucket(Rate rate, LimitOptions options) {
        return TokenBucket.of(
                rate, options.number("burst", rate.permits()), options.choice("refill", Refill.CONTINUOUS));
    }

    private static Limit fixedWindow(Rate rate, LimitOptions options) {
        if (options.choice("align", Align.FIRST_HIT) == Align.CLOCK) {
            return FixedWindow.onClock(rate, options.zone("zone", ZoneOffset.UTC));
        }
        if (options.names().contains("zone")) {
            throw new IllegalArgumentException("zone needs align: clock");
        }
        return FixedWindow.of(rate);
    }

    private static Limit slidingWindow(Rate rate, LimitOptions options) {
        return SlidingWindow.of(rate, options.choice("rounding", Rounding.EXACT));
    }
}
