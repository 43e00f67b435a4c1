package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
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
    SLIDING_LOG(List.of(), (rate, options) -> SlidingLog.of(rate));

    private final List<String> options;
    private final BiFunction<Rate, LimitOptions, Limit> factory;

    Algorithm(List<String> options, BiFunction<Rate, LimitOptions, Limit> factory) {
        this.options = options;
        this.factory = factory;
    }

    /**
     * The algorithm of this name.
     *
     * @throws IllegalArgumentException when there is none; the message lists those there are
     */
    public static Algorithm named(String name) {
        return Arrays.stream(values())
                .filter(algorithm -> algorithm.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("algorithm must be one of "
                        + Arrays.stream(values()).map(Algorithm::toString).collect(Collectors.joining(", "))));
    }

    /**
     * A limit of this algorithm.
     *
     * @throws IllegalArgumentException when an option is given that the algorithm does not have, or the rate does not fit
     */
    public Limit limit(Rate rate, LimitOptions given) {
        String foreign = foreignOption(given);
        if (foreign != null) {
            throw new IllegalArgumentException(foreign + " is no option of " + this + ", which has "
                    + (options.isEmpty() ? "none" : String.join(" and ", options)));
        }
        return factory.apply(rate, given);
    }

    /** The first option given that this algorithm does not have, or {@code null}. */
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
        long burst = Objects.requireNonNullElse(options.burst(), rate.permits());
        return TokenBucket.of(rate, burst, Objects.requireNonNullElse(options.refill(), TokenBucket.Refill.CONTINUOUS));
    }

    private static Limit fixedWindow(Rate rate, LimitOptions options) {
        if (options.align() == FixedWindow.Align.CLOCK) {
            return FixedWindow.onClock(rate, Objects.requireNonNullElse(options.zone(), ZoneOffset.UTC));
        }
        if (options.zone() != null) {
            throw new IllegalArgumentException("zone needs align: clock");
        }
        return FixedWindow.of(rate);
    }

    private static Limit slidingWindow(Rate rate, LimitOptions options) {
        return SlidingWindow.of(rate, Objects.requireNonNullElse(options.rounding(), SlidingWindow.Rounding.EXACT));
    }
}
