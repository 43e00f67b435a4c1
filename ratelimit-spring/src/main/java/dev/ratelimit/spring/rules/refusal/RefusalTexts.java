package dev.ratelimit.spring.rules.refusal;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The texts of recent refusals: a limit refuses many requests with the same wait in whole seconds. They depend on the
 * configuration and on this wait, and contain nothing of a request. A fixed number of places, each for the last text
 * that belongs there. Thread-safe.
 */
public final class RefusalTexts {

    /** A power of two. */
    static final int PLACES = 128;

    /**
     * The texts of a refusal.
     *
     * @param detail a sentence for a human reader
     * @param retryAfter the wait in whole seconds; empty if no wait helps
     */
    public record Text(String detail, String retryAfter, BodyWriter.Body body) {}

    /**
     * A refusal.
     *
     * @param policy the first that refuses
     * @param limit its limit that refuses
     * @param violated the names of all policies that refuse
     * @param format what the refusal looks like
     * @param seconds the wait
     */
    public record Cause(Policy policy, Limit limit, List<String> violated, RefusalFormat format, long seconds) {}

    private record Kept(Cause cause, Text text) {}

    private final AtomicReferenceArray<@Nullable Kept> places = new AtomicReferenceArray<>(PLACES);

    /** The text of a refusal, {@code null} if it is not kept. */
    public @Nullable Text find(Cause cause) {
        Kept kept = places.get(place(cause));
        return kept != null && kept.cause().equals(cause) ? kept.text() : null;
    }

    /** Keeps a text in place of another. */
    public void keep(Cause cause, Text text) {
        places.set(place(cause), new Kept(cause, text));
    }

    private static int place(Cause cause) {
        int hash = 31 * cause.policy().name().hashCode()
                + Long.hashCode(cause.limit().capacity());
        return (int) (hash * 31L + cause.seconds()) & (PLACES - 1);
    }
}
