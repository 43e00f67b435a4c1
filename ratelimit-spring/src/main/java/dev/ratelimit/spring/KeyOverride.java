package dev.ratelimit.spring;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The limits of a single key for {@link RateLimitPolicies#override}, until when, and why. Immutable. */
public final class KeyOverride {

    private final String limit;
    private final @Nullable Duration duration;
    private final @Nullable Instant until;
    private final @Nullable String reason;

    private KeyOverride(String limit, @Nullable Duration duration, @Nullable Instant until, @Nullable String reason) {
        this.limit = limit;
        this.duration = duration;
        this.until = until;
        this.reason = reason;
    }

    /**
     * {@return an override with these limits, without an end}
     *
     * @param limit as in the configuration, such as {@code 50/minute}, {@code blocked} or {@code unlimited}
     */
    public static KeyOverride to(String limit) {
        return new KeyOverride(limit, null, null, null);
    }

    /** {@return an override that refuses all requests, without an end} */
    public static KeyOverride blocked() {
        return to("blocked");
    }

    /** {@return an override that admits all requests, without an end} */
    public static KeyOverride unlimited() {
        return to("unlimited");
    }

    /**
     * {@return the same override for some time}
     *
     * @param time more than 0 and at most 366 days, from when it is set
     */
    public KeyOverride lasting(Duration time) {
        return new KeyOverride(limit, time, null, reason);
    }

    /**
     * {@return the same override until a moment}
     *
     * @param end later than now, by at most 366 days; exact to a microsecond
     */
    public KeyOverride until(Instant end) {
        return new KeyOverride(limit, null, end, reason);
    }

    /**
     * {@return the same override with a reason, for those who see it}
     *
     * @param why at most 200 characters
     */
    public KeyOverride because(String why) {
        return new KeyOverride(limit, duration, until, why);
    }

    /** {@return the limits as in the configuration} */
    public String limit() {
        return limit;
    }

    /** {@return how long it lasts; {@code null} if it has a fixed end or none} */
    public @Nullable Duration duration() {
        return duration;
    }

    /** {@return when it ends; {@code null} if it has a duration or no end} */
    public @Nullable Instant until() {
        return until;
    }

    /** {@return why; {@code null} if nobody has said that} */
    public @Nullable String reason() {
        return reason;
    }
}
