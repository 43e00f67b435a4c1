package dev.ratelimit.spring;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The policies of the configuration and of annotations, by name: for decisions in one's own code, the state of a key,
 * and changes while the application runs. A bean. Thread-safe.
 *
 * <p>A key is written as its plain values, one for each part of the policy's key: {@code "alice"}, or {@code "alice",
 * "GET /orders/{id}"} for the key {@code user, endpoint}; nothing if all callers share one budget. It is the budget of
 * the requests with these values. A caller who was identified by the address because a value was missing is
 * {@code "ip:10.0.0.7"}.
 */
public interface RateLimitPolicies {

    /** {@return the names of all policies, including those that are off, in alphabetical order} */
    Set<String> names();

    /**
     * {@return the limits in force, for keys without an override or a plan}
     *
     * @param name of a configured policy, or of an annotation
     * @throws IllegalArgumentException if there is no such policy
     */
    Policy policy(String name);

    /**
     * {@return whether the policy is applied}
     *
     * @param name of a configured policy, or of an annotation
     * @throws IllegalArgumentException if there is no such policy
     */
    Mode mode(String name);

    /**
     * {@return one permit of a key's budget, for a {@code RateLimiter}; more with {@link Charge#plus}} With the limits
     * of now, so create a charge for each decision. A blocked key is charged more permits than the policy ever admits,
     * and an unlimited one 0 permits, as is every key of a policy that is not enforced. Plans are unknown here, so keys
     * with a plan have the limits of those without.
     *
     * @param policy its name
     * @param key one plain value for each part of the policy's key; none if all callers share one budget
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    Charge charge(String policy, String... key);

    /**
     * {@return the status of each limit for a key, as its next request would find it; empty for keys that are unlimited
     * or blocked} Takes nothing. Plans are unknown here, so keys with a plan have the limits of those without.
     *
     * @param policy its name
     * @param key one plain value for each part of the policy's key; none if all callers share one budget
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     * @throws dev.ratelimit.StoreUnavailableException if the store does not answer, and the policy fails closed
     */
    List<LimitStatus> state(String policy, String... key);

    /**
     * Resets a key to a full budget.
     *
     * @param policy its name
     * @param key one plain value for each part of the policy's key; none if all callers share one budget
     * @return whether it is certain that the key was reset; {@code false} if the store's server does not answer
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    @CanIgnoreReturnValue
    boolean reset(String policy, String... key);

    /**
     * Changes a policy while the application runs. What the change leaves out stays as it is. Every request, and all
     * endpoints whose annotations name the policy, see either the old policy or the new one. Keys keep the permits that
     * they have used, in proportion. A restart returns to the configuration, and so does the end of the change, if it has
     * one.
     *
     * <p>With the store on Redis, all instances have the change two seconds later, also those that start later, and it
     * lasts until the last of them stops.
     *
     * @param policy its name
     * @param change what to change; follows earlier changes of this policy
     * @throws RateLimitConfigurationException if the configuration would not be valid; the policy then stays as it is
     * @throws IllegalArgumentException if there is no such policy, the end is in the past or more than 366 days away, or
     *     the limit has more than 200 characters
     * @throws IllegalStateException if Redis does not answer; the policy then stays as it is, unless Redis has received
     *     the change
     */
    void change(String policy, Change change);

    /**
     * Returns to the configuration, as if the policy had never been changed.
     *
     * @param policy its name
     * @throws IllegalArgumentException if there is no such policy
     * @throws IllegalStateException if Redis does not answer; the policy then stays as it is
     */
    void restore(String policy);

    /**
     * Blocks a key, lifts its limit or gives it another one while the application runs, in place of its override in the
     * configuration, of its plan and of an earlier override by this method. Requests from then on have it, except those
     * that already wait for permits. A key whose limit is replaced keeps the permits that it has used, in proportion, at
     * the beginning and at the end. At most 10,000 keys may have an override, over all policies.
     *
     * <p>An override ends at its end, exact to the clock of each instance. One without an end lasts until it is removed,
     * or until the instance restarts.
     *
     * @param policy its name; its key must have exactly one part besides endpoint, route and method
     * @param key the plain value of that part, at most 256 characters; for the part {@code ip}, an address or a network
     *     such as {@code 203.0.113.0/24}, of which the narrowest with an override applies
     * @param override the limits of the key, and until when
     * @throws RateLimitConfigurationException if the policy cannot have the limits
     * @throws IllegalArgumentException if there is no such policy, it has no keys of this kind, the end is in the past or
     *     more than 366 days away, or there are too many overrides
     */
    void override(String policy, String key, KeyOverride override);

    /**
     * Ends an override by {@link #override}. The key has the limits of the configuration again.
     *
     * @param policy its name
     * @param key as in {@link #override}, in whatever spelling
     * @return whether there was one
     * @throws IllegalArgumentException if there is no such policy, or it has no keys of this kind
     */
    @CanIgnoreReturnValue
    boolean removeOverride(String policy, String key);

    /**
     * {@return the overrides of a policy that are in force by {@link #override}, ordered by key}
     *
     * @param policy its name
     * @throws IllegalArgumentException if there is no such policy
     */
    List<OverriddenKey> overrides(String policy);

    /**
     * Tries another limit beside the one in force, in place of the last trial of the policy: whom it would refuse, and how
     * many more than now. It refuses nobody; {@link RateLimitTrial} says what it sees.
     *
     * @param policy its name
     * @param trial the limit, and for how long; without a burst, the burst stays as it is, as with {@link #change}
     * @throws RateLimitConfigurationException if the policy cannot have the limit
     * @throws IllegalArgumentException if there is no such policy, it is off or counts requests at once, or ten trials run
     */
    void startTrial(String policy, RateLimitTrial trial);

    /**
     * {@return what the last trial of a policy has shown so far; {@code null} if it was ended, or there was none}
     *
     * @param policy its name
     * @throws IllegalArgumentException if there is no such policy
     */
    RateLimitTrial.@Nullable Result trial(String policy);

    /**
     * Ends a trial by {@link #startTrial}, and forgets what it has shown.
     *
     * @param policy its name
     * @return whether there was one
     * @throws IllegalArgumentException if there is no such policy
     */
    @CanIgnoreReturnValue
    boolean endTrial(String policy);

    /**
     * {@return what was done to policies and to keys, and what has ended by itself, the latest first} At most the last
     * 1,000 entries are kept: those of this instance since its start or, with the store on Redis, of all instances since
     * the first of them started. The end of a change is an entry as long as the change is one.
     *
     * @param limit how many entries at most, from 1 to 1,000
     * @throws IllegalArgumentException if the limit is another one
     */
    List<HistoryEntry> history(int limit);

    /**
     * {@return what was done to a policy and to keys under it, and what has ended by itself, the latest first} It is a part
     * of {@link #history(int)}.
     *
     * @param policy its name
     * @param limit how many entries at most, from 1 to 1,000
     * @throws IllegalArgumentException if there is no such policy, nor an entry for one, or the limit is another one
     */
    List<HistoryEntry> history(String policy, int limit);

    /**
     * A key with an override. Immutable.
     *
     * @param key the plain value, in its usual spelling
     * @param limit the limits as they were written: such as {@code 50/minute}, {@code blocked} or {@code unlimited}
     * @param until when it ends; {@code null} if it has no end
     * @param reason why; {@code null} if nobody has said that
     * @param by who has set it
     * @param since when it was set
     */
    record OverriddenKey(
            String key,
            String limit,
            @Nullable Instant until,
            @Nullable String reason,
            String by,
            Instant since) {}

    /** What to change. Immutable. */
    final class Change {

        private final @Nullable String limit;
        private final @Nullable Long burst;
        private final @Nullable Mode mode;
        private final @Nullable Duration penalty;
        private final @Nullable Duration maxWait;
        private final Map<String, OfPlan> plans;
        private final Terms terms;

        /**
         * What to change of a plan. Immutable.
         *
         * @param limit as in the configuration, such as {@code 100/minute}, {@code unlimited} or {@code blocked};
         *     {@code null} to leave it
         * @param burst the maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of one
         *     period
         */
        public record OfPlan(
                @Nullable String limit, @Nullable Long burst) {

            OfPlan after(OfPlan earlier) {
                return new OfPlan(limit == null ? earlier.limit : limit, burst == null ? earlier.burst : burst);
            }

            @Override
            public String toString() {
                return burst == null
                        ? String.valueOf(limit)
                        : limit == null ? "burst " + burst : limit + " burst " + burst;
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
        public Change(@Nullable String limit, @Nullable Long burst, @Nullable Mode mode) {
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
        public Change(
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
            this.terms = Terms.NONE;
        }

        private Change(Change values, Terms terms) {
            this.limit = values.limit;
            this.burst = values.burst;
            this.mode = values.mode;
            this.penalty = values.penalty;
            this.maxWait = values.maxWait;
            this.plans = values.plans;
            this.terms = terms;
        }

        /**
         * {@return a change of the limit alone}
         *
         * @param limit as in the configuration, such as {@code 100/minute}
         */
        public static Change toLimit(String limit) {
            return new Change(limit, null, null);
        }

        /**
         * {@return a change of the burst alone}
         *
         * @param burst the maximum number of permits in a token bucket; 0 for the permits of one period
         */
        public static Change toBurst(long burst) {
            return new Change(null, burst, null);
        }

        /**
         * {@return a change of the mode alone}
         *
         * @param mode whether the policy is applied
         */
        public static Change toMode(Mode mode) {
            return new Change(null, null, mode);
        }

        /**
         * {@return a change of the penalty alone}
         *
         * @param penalty how long a key that the policy has refused stays refused: from one second to 365 days, or zero for
         *     none
         */
        public static Change toPenalty(Duration penalty) {
            return new Change(null, null, null, penalty, null, Map.of());
        }

        /**
         * {@return a change of the longest wait alone, for a policy that lets requests wait} Those who already wait keep
         * the time that they have, unless their permits take longer than the new one.
         *
         * @param maxWait how long a request may wait, above 0 and at most one hour
         */
        public static Change toMaxWait(Duration maxWait) {
            return new Change(null, null, null, null, maxWait, Map.of());
        }

        /**
         * {@return a change of the limit of a plan alone}
         *
         * @param plan a plan of the policy's configuration
         * @param limit as in the configuration, such as {@code 100/minute}, {@code unlimited} or {@code blocked}
         */
        public static Change toPlan(String plan, String limit) {
            return new Change(null, null, null, null, null, Map.of(plan, new OfPlan(limit, null)));
        }

        /**
         * {@return the same change for some time} Then what it has changed returns to the configuration, unless it was
         * changed again.
         *
         * @param time more than 0 and at most 366 days, from when the change is made
         */
        public Change lasting(Duration time) {
            return new Change(this, new Terms(time, null, terms.reason));
        }

        /**
         * {@return the same change until a moment} Then what it has changed returns to the configuration, unless it was
         * changed again.
         *
         * @param end later than now, by at most 366 days; exact to a microsecond
         */
        public Change until(Instant end) {
            return new Change(this, new Terms(null, end, terms.reason));
        }

        /**
         * {@return the same change with a reason, for those who see it}
         *
         * @param why at most 200 characters
         */
        public Change because(String why) {
            return new Change(this, new Terms(terms.duration, terms.until, why));
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

        /** {@return what to change of plans, by name} */
        public Map<String, OfPlan> plans() {
            return plans;
        }

        /**
         * {@return both changes in one, without their ends and reasons: what this one leaves is that of the earlier one}
         *
         * @param earlier a change to the same policy
         */
        public Change after(Change earlier) {
            Map<String, OfPlan> both = new TreeMap<>(earlier.plans);
            plans.forEach((plan, change) -> both.merge(plan, change, (before, now) -> now.after(before)));
            return new Change(
                    limit == null ? earlier.limit : limit,
                    burst == null ? earlier.burst : burst,
                    mode == null ? earlier.mode : mode,
                    penalty == null ? earlier.penalty : penalty,
                    maxWait == null ? earlier.maxWait : maxWait,
                    both);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Change change
                    && Objects.equals(limit, change.limit)
                    && Objects.equals(burst, change.burst)
                    && mode == change.mode
                    && Objects.equals(penalty, change.penalty)
                    && Objects.equals(maxWait, change.maxWait)
                    && plans.equals(change.plans)
                    && terms.equals(change.terms);
        }

        @Override
        public int hashCode() {
            return Objects.hash(limit, burst, mode, penalty, maxWait, plans, terms);
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
}
