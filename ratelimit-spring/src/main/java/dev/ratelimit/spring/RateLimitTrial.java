package dev.ratelimit.spring;

import dev.ratelimit.Limit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Another limit for a policy, to be tried beside the one in force without refusing anybody. Its budgets are in the memory of
 * this instance, and full at the beginning. It sees the requests to this instance from then on: with several instances, only a
 * part of those of a key. Keys with a plan or an override have other limits, and take no part. A
 * request that waits comes to the trial only when its wait is over, so a trial says little of a policy that lets requests wait.
 * Immutable.
 *
 * @param limit as in the configuration, such as {@code 50/minute}
 * @param burst the maximum number of permits in a token bucket; {@code null} for that of the policy, or with another algorithm
 *     for the permits of one period, as 0
 * @param algorithm as in the configuration, such as {@code sliding-window}, with the other options of the policy, which it must
 *     have; {@code null} for that of the policy
 * @param duration how long it is tried, more than 0 and at most a day
 * @param reason why, for those who see the trial, at most 200 characters; {@code null} if nobody says that
 */
public record RateLimitTrial(
        String limit,
        @Nullable Long burst,
        @Nullable String algorithm,
        Duration duration,
        @Nullable String reason) {

    private static final Duration MAX_DURATION = Duration.ofDays(1);
    private static final int MAX_TEXT = 200;

    /** How long a trial lasts unless something else is said: an hour. */
    public static final Duration DEFAULT_DURATION = Duration.ofHours(1);

    /**
     * Validates the burst, the duration and the lengths of the texts, at most 200 characters.
     *
     * @throws IllegalArgumentException if one of them is wrong
     */
    public RateLimitTrial {
        if (burst != null && burst < 0) {
            throw new IllegalArgumentException(
                    "burst must be a whole number, 0 for the permits of one period, but was " + burst);
        }
        if (duration.isNegative() || duration.isZero() || duration.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException("duration must be more than 0 and at most one day; write 1h");
        }
        check("limit", limit);
        check("algorithm", algorithm);
        check("reason", reason);
    }

    private static void check(String name, @Nullable String text) {
        if (text != null && text.length() > MAX_TEXT) {
            throw new IllegalArgumentException(
                    name + " must have at most " + MAX_TEXT + " characters but had " + text.length());
        }
    }

    /**
     * {@return a trial of this limit, for an hour}
     *
     * @param limit as in the configuration, such as {@code 50/minute}
     */
    public static RateLimitTrial of(String limit) {
        return new RateLimitTrial(limit, null, null, DEFAULT_DURATION, null);
    }

    /**
     * {@return the same trial with another burst}
     *
     * @param permits the maximum number of permits in a token bucket, 0 for the permits of one period
     */
    public RateLimitTrial withBurst(long permits) {
        return new RateLimitTrial(limit, permits, algorithm, duration, reason);
    }

    /**
     * {@return the same trial by another algorithm}
     *
     * @param name as in the configuration, such as {@code sliding-window}
     */
    public RateLimitTrial by(String name) {
        return new RateLimitTrial(limit, burst, name, duration, reason);
    }

    /**
     * {@return the same trial for another time}
     *
     * @param time more than 0 and at most a day
     */
    public RateLimitTrial lasting(Duration time) {
        return new RateLimitTrial(limit, burst, algorithm, time, reason);
    }

    /**
     * {@return the same trial with a reason, for those who see it}
     *
     * @param why at most 200 characters
     */
    public RateLimitTrial because(String why) {
        return new RateLimitTrial(limit, burst, algorithm, duration, why);
    }

    /**
     * What a trial has shown so far, on this instance. The requests are those that no other policy refuses, and whose key has
     * the limit of the policy, not that of a plan or an override.
     *
     * @param limits what is tried
     * @param since when the trial has begun
     * @param until when it ends, or has ended
     * @param running whether it has not ended yet
     * @param requests how many requests the policy has decided since then
     * @param more how many of them the policy has admitted, and the trial would have refused
     * @param fewer how many of them the policy has refused, and the trial would have admitted
     * @param both how many of them the policy has refused, and the trial would have, too
     * @param refusedKeys how many keys would be refused more often than now, exact up to 10,000, the maximum
     */
    public record Result(
            List<Limit> limits,
            Instant since,
            Instant until,
            boolean running,
            long requests,
            long more,
            long fewer,
            long both,
            int refusedKeys) {

        /** Copies the list. */
        public Result {
            limits = List.copyOf(limits);
        }
    }
}
