package dev.ratelimit.spring;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The policies of the configuration and of annotations, by name: for decisions in one's own code, the state of a key,
 * and changes while the application runs. A bean. Thread-safe.
 *
 * <p>A key is written as its plain values, one for each part of the policy's key: {@code "alice"}, or {@code "alice",
 * "GET /orders/{id}"} for the key {@code user, endpoint}; nothing if all callers share one budget. It is the budget of
 * the requests with these values. A caller who was identified by the address because a value was missing is {@code
 * "ip:10.0.0.7"}.
 */
public interface RateLimitPolicies {

    /** The names of all policies, including those that are off, in alphabetical order. */
    Set<String> names();

    /**
     * The limits in force, for keys without an override or a plan.
     *
     * @throws IllegalArgumentException if there is no such policy
     */
    Policy policy(String name);

    /**
     * Whether the policy is applied.
     *
     * @throws IllegalArgumentException if there is no such policy
     */
    Mode mode(String name);

    /**
     * One permit of a key's budget, for a {@code RateLimiter}; more with {@link Charge#plus}. With the limits of now,
     * so create a charge for each decision. A blocked key is charged more permits than the policy ever admits, and an
     * unlimited one 0 permits, as is every key of a policy that is not enforced. Plans are unknown here, so keys with a
     * plan have the limits of those without.
     *
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    Charge charge(String policy, String... key);

    /**
     * The status of each limit for a key; empty for keys that are unlimited or blocked. Takes nothing.
     *
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    List<LimitStatus> state(String policy, String... key);

    /**
     * Resets a key to a full budget.
     *
     * @throws IllegalArgumentException if there is no such policy, or its key has other parts
     */
    void reset(String policy, String... key);

    /**
     * Changes a policy while the application runs. What the change leaves out stays as it is. Every request, and all
     * endpoints whose annotations name the policy, see either the old policy or the new one. Keys keep the permits that
     * they have used, in proportion. A restart returns to the configuration.
     *
     * @throws RateLimitConfigurationException if the configuration would not be valid; the policy then stays as it is
     * @throws IllegalArgumentException if there is no such policy
     */
    void change(String policy, Change change);

    /**
     * Returns to the configuration, as if the policy had never been changed.
     *
     * @throws IllegalArgumentException if there is no such policy
     */
    void restore(String policy);

    /** What to change. Immutable. */
    final class Change {

        private final @Nullable String limit;
        private final @Nullable Long burst;
        private final @Nullable Mode mode;

        /**
         * Creates a change.
         *
         * @param limit as in the configuration, such as {@code 100/minute}; {@code null} to leave it
         * @param burst the maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of one
         *     period
         * @param mode whether the policy is applied; {@code null} to leave it
         */
        public Change(@Nullable String limit, @Nullable Long burst, @Nullable Mode mode) {
            this.limit = limit;
            this.burst = burst;
            this.mode = mode;
        }

        /** Another limit. */
        public static Change toLimit(String limit) {
            return new Change(limit, null, null);
        }

        /** Another mode. */
        public static Change toMode(Mode mode) {
            return new Change(null, null, mode);
        }

        /** The limit as in the configuration; {@code null} to leave it. */
        public @Nullable String limit() {
            return limit;
        }

        /** The maximum number of permits in a token bucket; {@code null} to leave it, 0 for the permits of one period. */
        public @Nullable Long burst() {
            return burst;
        }

        /** Whether the policy is applied; {@code null} to leave it. */
        public @Nullable Mode mode() {
            return mode;
        }

        /** This change after an earlier one. */
        public Change after(Change earlier) {
            return new Change(
                    limit == null ? earlier.limit : limit,
                    burst == null ? earlier.burst : burst,
                    mode == null ? earlier.mode : mode);
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
