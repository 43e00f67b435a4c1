package dev.ratelimit.simulator.traffic;

import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a log is to be read. Immutable.
 *
 * @param format the name of a format or a log format of nginx or Apache; {@code null} to find out by the first line
 * @param mapping which fields say what
 * @param zone of times without one
 * @param durationUnit of durations; {@code null} for what the names of their fields say
 * @param timesAreEnds whether times are those at which requests ended, as nginx writes them
 * @param contextPath of the application, which is no part of the paths that limits see; empty for none
 * @param headers the names, in lower case, of the headers that are read; {@code null} for all
 * @param window how many requests are kept to sort them by time
 */
public record LogOptions(
        @Nullable String format,
        FieldMapping mapping,
        ZoneId zone,
        @Nullable TimeUnit durationUnit,
        boolean timesAreEnds,
        String contextPath,
        @Nullable Set<String> headers,
        int window) {

    /** Finds out the format; times are in UTC. */
    public static final LogOptions DEFAULT =
            new LogOptions(null, FieldMapping.USUAL_NAMES, ZoneOffset.UTC, null, false, "", null, 10_000);

    /** The same for another format. */
    public LogOptions withFormat(@Nullable String other) {
        return new LogOptions(other, mapping, zone, durationUnit, timesAreEnds, contextPath, headers, window);
    }

    /** The same with other names of fields. */
    public LogOptions withMapping(FieldMapping other) {
        return new LogOptions(format, other, zone, durationUnit, timesAreEnds, contextPath, headers, window);
    }

    /** The same below another context path. */
    public LogOptions withContextPath(String other) {
        return new LogOptions(format, mapping, zone, durationUnit, timesAreEnds, other, headers, window);
    }

    /** The same without headers that nobody reads. */
    public LogOptions withHeaders(@Nullable Set<String> read) {
        return new LogOptions(format, mapping, zone, durationUnit, timesAreEnds, contextPath, read, window);
    }

    boolean needsHeader(String name) {
        return headers == null || headers.contains(name);
    }
}
