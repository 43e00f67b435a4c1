package dev.ratelimit.spring;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What was done to a policy, or to a key under it, while the application ran. Immutable.
 *
 * @param time when it was in force
 * @param action what was done
 * @param policy the name of the policy
 * @param key the plain value of the key; {@code null} if the policy itself was changed
 * @param from what was in force before, for people: of a policy, such as {@code 100/minute (token-bucket), mode enforce};
 *     of a key, the limits of its override, {@code null} if it had none
 * @param to what is in force since; {@code null} if the configuration is again
 * @param until when it ends, unless it is replaced before; {@code null} if it has no end
 * @param reason why; {@code null} if nobody has said that
 * @param by who has done it; {@code null} for nobody, if it has ended by itself
 */
public record HistoryEntry(
        Instant time,
        Action action,
        String policy,
        @Nullable String key,
        @Nullable String from,
        @Nullable String to,
        @Nullable Instant until,
        @Nullable String reason,
        @Nullable String by) {

    /** What was done. */
    public enum Action {
        /** A policy was changed. */
        CHANGE,
        /** A policy was restored to its configuration. */
        RESTORE,
        /** The override of a key was set. */
        OVERRIDE,
        /** The override of a key was removed. */
        REMOVE_OVERRIDE,
        /** A change, or an override, has reached its end. */
        EXPIRY
    }
}
