package dev.ratelimit.spring;

import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What {@link RateLimitPolicies#change} changes of a policy. Immutable. */
public final class RateLimitChange {

    private final @Nullable String limit;
    private final @Nullable Long burst;
    private final @Nullable Mode mode;
    private final @Nullable Duration penalty;
    private final @Nullable Duration maxWait;
    private final Map<String, OfPlan> plans;
    private final @Nullable List<String> paths;
    private final Terms terms;

    /**
     * What to change of a plan. Immutable.
     *
     * @param limit as in the configuration, such as {@code 100/minute}, {@code unlimited} or {@code blocked};
     *     {@code null} to leave it
     * @param burst the maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of one
     *     period
     */
    public record OfPlan(@Nullable String limit, @Nullable Long burst) {

        OfPlan after(OfPlan earlier) {
            return new OfPlan(limit == null ? earlier.limit : limit, burst == null ? earlier.burst : burst);
        }

        @Override
        public String toString() {
            return burst == null ? String.valueOf(limit) : limit == null ? "burst " + burst : limit + " burst " + burst;
        }
    }

    /** Until when, and why. */
    private record Terms(
            @Nullable Duration duration,
            @Nullable Instant until,
            @Nullable String reason) {

        static final Terms NONE = new Terms(null, null, null);
    }

    /**
     * Creates a change.
     *
     * @param limit as in the configuration, such as {@code 100/minute}; {@code null} to leave it
     * @param burst the maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of
     *     one period
     * @param mode whether the policy is applied; {@code null} to leave it
     */
    public RateLimitChange(@Nullable String limit, @Nullable Long burst, @Nullable Mode mode) {
        this(limit, burst, mode, null, null, Map.of());
    }

    /**
     * Creates a change of everything that can be changed.
     *
     * @param limit as in the configuration, such as {@code 100/minute}; {@code null} to leave it
     * @param burst the maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of
     *     one period
     * @param mode whether the policy is applied; {@code null} to leave it
     * @param penalty how long a key that the policy has refused stays refused; {@code null} to leave it, zero for
     *     none
     * @param maxWait how long a request may wait, above 0 and at most one hour; {@code null} to leave it
     * @param plans what to change of plans of the configuration, by name
     */
    public RateLimitChange(
            @Nullable String limit,
            @Nullable Long burst,
            @Nullable Mode mode,
            @Nullable Duration penalty,
            @Nullable Duration maxWait,
            Map<String, OfPlan> plans) {
        this.limit = limit;
        this.burst = burst;
        this.mode = mode;
        this.penalty = penalty;
        this.maxWait = maxWait;
        this.plans = Collections.unmodifiableMap(new TreeMap<>(plans));
        this.paths = null;
        this.terms = Terms.NONE;
    }

    private RateLimitChange(RateLimitChange values, @Nullable List<String> paths, Terms terms) {
        this.limit = values.limit;
        this.burst = values.burst;
        this.mode = values.mode;
        this.penalty = values.penalty;
        this.maxWait = values.maxWait;
        this.plans = values.plans;
        this.paths = paths;
        this.terms = terms;
    }

    /**
     * {@return a change of the limit alone}
     *
     * @param limit as in the configuration, such as {@code 100/minute}
     */
    public static RateLimitChange toLimit(String limit) {
        return new RateLimitChange(limit, null, null);
    }

    /**
     * {@return a change of the burst alone}
     *
     * @param burst the maximum number of permits in a token bucket; 0 for the permits of one period
     */
    public static RateLimitChange toBurst(long burst) {
        return new RateLimitChange(null, burst, null);
    }

    /**
     * {@return a change of the mode alone}
     *
     * @param mode whether the policy is applied
     */
    public static RateLimitChange toMode(Mode mode) {
        return new RateLimitChange(null, null, mode);
    }

    /**
     * {@return a change of the penalty alone}
     *
     * @param penalty how long a key that the policy has refused stays refused: from one second to 365 days, or zero for
     *     none
     */
    public static RateLimitChange toPenalty(Duration penalty) {
        return new RateLimitChange(null, null, null, penalty, null, Map.of());
    }

    /**
     * {@return a change of the longest wait alone, for a policy that lets requests wait} Those who already wait keep
     * the time that they have, unless their permits take longer than the new one.
     *
     * @param maxWait how long a request may wait, above 0 and at most one hour
     */
    public static RateLimitChange toMaxWait(Duration maxWait) {
        return new RateLimitChange(null, null, null, null, maxWait, Map.of());
    }

    /**
     * {@return a change of the limit of a plan alone}
     *
     * @param plan a plan of the policy's configuration
     * @param limit as in the configuration, such as {@code 100/minute}, {@code unlimited} or {@code blocked}
     */
    public static RateLimitChange toPlan(String plan, String limit) {
        return new RateLimitChange(null, null, null, null, null, Map.of(plan, new OfPlan(limit, null)));
    }

    /**
     * {@return the same change, which also puts a policy in force that is off in the configuration, on these of its paths
     * alone} It has the limit of its configuration, unless that is changed, too, and refuses requests, unless the mode is
     * changed. Where annotations name the policy, it is in force as well. At the end, it is off again.
     *
     * <p>Three policies need no configuration: {@code extra-by-address}, {@code extra-by-user} and {@code extra-shared},
     * which all callers share. Each has 60/minute and may be in force several times, with {@code -2} to {@code -9} at the
     * end of its name.
     *
     * @param patterns such as {@code /login} or {@code /api/**}, within those of the configuration; {@code /**} for all
     * @throws IllegalArgumentException if there is no pattern
     */
    public RateLimitChange onPaths(String... patterns) {
        if (patterns.length == 0) {
            throw new IllegalArgumentException("there must be at least one path; write /login, or /** for all paths");
        }
        return new RateLimitChange(this, List.of(patterns), terms);
    }

    /**
     * {@return the same change for some time} Then what it has changed returns to the configuration, unless it was
     * changed again.
     *
     * @param time more than 0 and at most 366 days, from when the change is made
     */
    public RateLimitChange lasting(Duration time) {
        return new RateLimitChange(this, paths, new Terms(time, null, terms.reason));
    }

    /**
     * {@return the same change until a moment} Then what it has changed returns to the configuration, unless it was
     * changed again.
     *
     * @param end later than now, by at most 366 days; exact to a microsecond
     */
    public RateLimitChange until(Instant end) {
        return new RateLimitChange(this, paths, new Terms(null, end, terms.reason));
    }

    /**
     * {@return the same change with a reason, for those who see it}
     *
     * @param why at most 200 characters
     */
    public RateLimitChange because(String why) {
        return new RateLimitChange(this, paths, new Terms(terms.duration, terms.until, why));
    }

    /** {@return how long it lasts; {@code null} if it has a fixed end or none} */
    public @Nullable Duration duration() {
        return terms.duration;
    }

    /** {@return when it ends; {@code null} if it has a duration or no end} */
    public @Nullable Instant until() {
        return terms.until;
    }

    /** {@return why; {@code null} if nobody has said that} */
    public @Nullable String reason() {
        return terms.reason;
    }

    /** {@return the limit as in the configuration; {@code null} to leave it} */
    public @Nullable String limit() {
        return limit;
    }

    /**
     * {@return the maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of one
     * period}
     */
    public @Nullable Long burst() {
        return burst;
    }

    /** {@return whether the policy is applied; {@code null} to leave it} */
    public @Nullable Mode mode() {
        return mode;
    }

    /** {@return how long a key that the policy has refused stays refused; {@code null} to leave it, zero for none} */
    public @Nullable Duration penalty() {
        return penalty;
    }

    /** {@return how long a request may wait; {@code null} to leave it} */
    public @Nullable Duration maxWait() {
        return maxWait;
    }

    /**
     * {@return on which paths a policy is in force that is off in the configuration; {@code null} to leave it} One element
     * may have several patterns, separated by commas.
     */
    public @Nullable List<String> paths() {
        return paths;
    }

    /** {@return what to change of plans, by name} */
    public Map<String, OfPlan> plans() {
        return plans;
    }

    /**
     * {@return both changes in one, without their ends and reasons: what this one leaves is that of the earlier one}
     *
     * @param earlier a change to the same policy
     */
    public RateLimitChange after(RateLimitChange earlier) {
        Map<String, OfPlan> both = new TreeMap<>(earlier.plans);
        plans.forEach((plan, change) -> both.merge(plan, change, (before, now) -> now.after(before)));
        RateLimitChange values = new RateLimitChange(
                limit == null ? earlier.limit : limit,
                burst == null ? earlier.burst : burst,
                mode == null ? earlier.mode : mode,
                penalty == null ? earlier.penalty : penalty,
                maxWait == null ? earlier.maxWait : maxWait,
                both);
        return new RateLimitChange(values, paths == null ? earlier.paths : paths, Terms.NONE);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RateLimitChange change
                && Objects.equals(limit, change.limit)
                && Objects.equals(burst, change.burst)
                && mode == change.mode
                && Objects.equals(penalty, change.penalty)
                && Objects.equals(maxWait, change.maxWait)
                && plans.equals(change.plans)
                && Objects.equals(paths, change.paths)
                && terms.equals(change.terms);
    }

    @Override
    public int hashCode() {
        return Objects.hash(limit, burst, mode, penalty, maxWait, plans, paths, terms);
    }

    /** For logs: {@code limit 100/minute, mode off, plan pro 600/minute}; empty if it changes nothing. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        append(text, "limit ", limit);
        append(text, "burst ", burst);
        append(text, "mode ", mode == null ? null : mode.name().toLowerCase(Locale.ROOT));
        append(text, "penalty ", penalty == null ? null : notation(penalty));
        append(text, "max-wait ", maxWait == null ? null : notation(maxWait));
        plans.forEach((plan, change) -> append(text, "plan " + plan + " ", change));
        append(text, "paths ", paths == null ? null : String.join(", ", paths));
        return text.toString();
    }

    private static String notation(Duration time) {
        return time.isZero() ? "none" : Rate.notation(time);
    }

    private static void append(StringBuilder text, String name, @Nullable Object value) {
        if (value != null) {
            text.append(text.isEmpty() ? "" : ", ").append(name).append(value);
        }
    }
}
