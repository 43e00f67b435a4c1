package dev.ratelimit.spring.rules.refusal;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The texts of refusals, of which recent ones are kept: a limit refuses many requests with the same wait in whole seconds. A text
 * is made of its cause alone, so that nothing of one request can get into the answer to another; what is of a request is to be
 * added when the answer is written. A fixed number of places, each for the last text that belongs there. Thread-safe.
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

    private final Function<Cause, Text> renderer;

    /** Keeps what this function makes; equal causes must give equal texts. */
    public RefusalTexts(Function<Cause, Text> renderer) {
        this.renderer = renderer;
    }

    /** The text of a refusal. */
    public Text of(Cause cause) {
        int place = place(cause);
        Kept kept = places.get(place);
        if (kept == null || !kept.cause().equals(cause)) {
            kept = new Kept(cause, renderer.apply(cause));
            places.set(place, kept);
        }
        return kept.text();
    }

    private static int place(Cause cause) {
        int hash = 31 * cause.policy().name().hashCode()
                + Long.hashCode(cause.limit().capacity());
        return (int) (hash * 31L + cause.seconds()) & (PLACES - 1);
    }
}
