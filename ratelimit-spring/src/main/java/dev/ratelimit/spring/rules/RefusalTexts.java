package dev.ratelimit.spring.rules;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The texts of recent refusals: a limit refuses many requests with the same wait in whole seconds. They depend on the
 * configuration and on this wait, and contain nothing of a request. A fixed number of places, each for the last text
 * that belongs there. Thread-safe.
 */
final class RefusalTexts {

    /** A power of two. */
    static final int PLACES = 128;

    /**
     * The texts of a refusal.
     *
     * @param detail a sentence for a human reader
     * @param retryAfter the wait in whole seconds; empty if no wait helps
     * @param body must not be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Text(String detail, String retryAfter, byte[] body) {}

    /** The text of a refusal by this limit. */
    private record Kept(Policy policy, Limit limit, List<String> policies, long seconds, Text text) {

        boolean isOf(Policy other, Limit otherLimit, List<String> violated, long wait) {
            return seconds == wait
                    && Objects.equals(limit, otherLimit)
                    && Objects.equals(policy, other)
                    && policies.equals(violated);
        }
    }

    private final AtomicReferenceArray<@Nullable Kept> places = new AtomicReferenceArray<>(PLACES);

    /**
     * The text of a refusal by a limit of a policy, {@code null} if it is not kept.
     *
     * @param violated the names of all policies that refuse
     */
    @Nullable
    Text find(Policy policy, Limit limit, List<String> violated, long seconds) {
        Kept kept = places.get(place(policy, limit, seconds));
        return kept != null && kept.isOf(policy, limit, violated, seconds) ? kept.text() : null;
    }

    /** Keeps a text in place of another. */
    void keep(Policy policy, Limit limit, List<String> violated, long seconds, Text text) {
        places.set(place(policy, limit, seconds), new Kept(policy, limit, violated, seconds, text));
    }

    private static int place(Policy policy, Limit limit, long seconds) {
        int hash = 31 * policy.name().hashCode() + Long.hashCode(limit.capacity());
        return (int) (hash * 31L + seconds) & (PLACES - 1);
    }
}
