package dev.ratelimit.algorithm;

import dev.ratelimit.algorithm.FixedWindow.Align;
import dev.ratelimit.algorithm.SlidingWindow.Rounding;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What configuration may say about a limit besides its rate; {@code null} is not said.
 *
 * @param burst the capacity of a token bucket, in permits
 * @param refill how a token bucket is refilled
 * @param align where fixed windows start
 * @param zone whose days and months clock-aligned windows follow
 * @param rounding what a sliding window compares
 */
public record LimitOptions(
        @Nullable Long burst,
        @Nullable Refill refill,
        @Nullable Align align,
        @Nullable ZoneId zone,
        @Nullable Rounding rounding) {

    /** Nothing said. */
    public static final LimitOptions NONE = new LimitOptions(null, null, null, null, null);

    /** The names of the options that are said. */
    List<String> names() {
        List<String> names = new ArrayList<>();
        addIfSaid(names, "burst", burst);
        addIfSaid(names, "refill", refill);
        addIfSaid(names, "align", align);
        addIfSaid(names, "zone", zone);
        addIfSaid(names, "rounding", rounding);
        return names;
    }

    private static void addIfSaid(List<String> names, String name, @Nullable Object value) {
        if (value != null) {
            names.add(name);
        }
    }
}
