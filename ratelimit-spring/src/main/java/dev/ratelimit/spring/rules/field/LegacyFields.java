package dev.ratelimit.spring.rules.field;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.spring.WebResponse;
import java.util.List;

/**
 * Fields of plain numbers, with room for one limit, as they were before the drafts had structured fields. Other names are
 * another constant here, and a value of {@code ratelimit.headers}.
 *
 * @param limit the name of the field for the capacity
 * @param remaining the name of the field for what is left
 * @param reset the name of the field for the seconds until the budget is full; not a date
 */
public record LegacyFields(String limit, String remaining, String reset) {

    /** What most APIs send. */
    public static final LegacyFields X_RATE_LIMIT =
            new LegacyFields("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset");

    /** The names of all fields. */
    public List<String> names() {
        return List.of(limit, remaining, reset);
    }

    /** Writes one limit. */
    public void write(LimitStatus status, WebResponse response) {
        response.setHeader(limit, Long.toString(status.limit().capacity()));
        response.setHeader(remaining, Long.toString(status.remaining()));
        response.setHeader(reset, Long.toString(WholeSeconds.of(status.fullAfterNanos())));
    }
}
