package dev.ratelimit.spring;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
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

    /** The limits of a single key, until when, and why. Immutable. */
    final class KeyOverride {

        private final String limit;
        private final @Nullable Duration duration;
        private final @Nullable Instant until;
        private final @Nullable String reason;

        private KeyOverride(
                String limit, @Nullable Duration duration, @Nullable Instant until, @Nullable String reason) {
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

    /** What to change. Immutable. */
    final class Change {

        private final @Nullable String limit;
        private final @Nullable Long burst;
        private final @Nullable Mode mode;
        private final Terms terms;

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
            this(limit, burst, mode, Terms.NONE);
        }

        private Change(@Nullable String limit, @Nullable Long burst, @Nullable Mode mode, Terms terms) {
            this.limit = limit;
            this.burst = burst;
            this.mode = mode;
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
         * {@return a change of the mode alone}
         *
         * @param mode whether the policy is applied
         */
        public static Change toMode(Mode mode) {
            return new Change(null, null, mode);
        }

        /**
         * {@return the same change for some time} Then what it has changed returns to the configuration, unless it was
         * changed again.
         *
         * @param time more than 0 and at most 366 days, from when the change is made
         */
        public Change lasting(Duration time) {
            return new Change(limit, burst, mode, new Terms(time, null, terms.reason));
        }

        /**
         * {@return the same change until a moment} Then what it has changed returns to the configuration, unless it was
         * changed again.
         *
         * @param end later than now, by at most 366 days; exact to a microsecond
         */
        public Change until(Instant end) {
            return new Change(limit, burst, mode, new Terms(null, end, terms.reason));
        }

        /**
         * {@return the same change with a reason, for those who see it}
         *
         * @param why at most 200 characters
         */
        public Change because(String why) {
            return new Change(limit, burst, mode, new Terms(terms.duration, terms.until, why));
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

        /**
         * {@return both changes in one, without their ends and reasons: what this one leaves is that of the earlier one}
         *
         * @param earlier a change to the same policy
         */
        public Change after(Change earlier) {
            return new Change(
                    limit == null ? earlier.limit : limit,
                    burst == null ? earlier.burst : burst,
                    mode == null ? earlier.mode : mode);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Change change
                    && Objects.equals(limit, change.limit)
                    && Objects.equals(burst, change.burst)
                    && mode == change.mode
                    && terms.equals(change.terms);
        }

        @Override
        public int hashCode() {
            return Objects.hash(limit, burst, mode, terms);
        }

        /** For logs: {@code limit 100/minute, mode off}. */
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            append(text, "limit ", limit);
            append(text, "burst ", burst);
            append(text, "mode ", mode == null ? null : mode.name().toLowerCase(Locale.ROOT));
            return text.toString();
        }

        private static void append(StringBuilder text, String name, @Nullable Object value) {
            if (value != null) {
                text.append(text.isEmpty() ? "" : ", ").append(name).append(value);
            }
        }
    }
}
