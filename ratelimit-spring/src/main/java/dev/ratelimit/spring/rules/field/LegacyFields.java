package dev.ratelimit.spring.rules.field;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.WebResponse;
import java.util.List;

/** The fields before the drafts: plain numbers, with room for one limit. The reset is in seconds, not a date. */
public final class LegacyFields {

    private static final String LIMIT = "X-RateLimit-Limit";
    private static final String REMAINING = "X-RateLimit-Remaining";
    private static final String RESET = "X-RateLimit-Reset";

    /** The names of all fields. */
    public static final List<String> NAMES = List.of(LIMIT, REMAINING, RESET);

    private LegacyFields() {}

    /** Writes one limit. */
    public static void write(LimitStatus status, WebResponse response) {
        response.setHeader(LIMIT, Long.toString(status.limit().capacity()));
        response.setHeader(REMAINING, Long.toString(status.remaining()));
        response.setHeader(RESET, Long.toString(WholeSeconds.of(status.fullAfterNanos())));
    }
}
