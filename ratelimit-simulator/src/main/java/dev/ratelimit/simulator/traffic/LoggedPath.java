package dev.ratelimit.simulator.traffic;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.web.util.UriUtils;

/**
 * A path of the log, and what is derived from it; requests with the same path share it. Immutable.
 */
public final class LoggedPath {

    private final String written;
    private final PathContainer parsed;
    private final @Nullable PathContainer normalized;

    /**
     * Parses a path.
     *
     * @param written without the query
     * @param prefix the context path of the application, which is cut off
     */
    LoggedPath(String written, String prefix) {
        this.written = written;
        String within = !prefix.isEmpty() && (written.equals(prefix) || written.startsWith(prefix + "/"))
                ? written.substring(prefix.length())
                : written;
        this.parsed = PathContainer.parsePath(within);
        boolean plain =
                !within.contains("//") && !within.contains("/.") && within.indexOf(';') < 0 && within.indexOf('%') < 0;
        this.normalized = plain ? null : normalized(within);
    }

    /** As servlet containers normalize paths: parameters go, the rest is decoded, then empty and dot segments go. */
    private static PathContainer normalized(String path) {
        String bare = path.replaceAll(";[^/]*", "");
        String decoded;
        try {
            decoded = UriUtils.decode(bare, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // servers refuse such a path
            decoded = bare;
        }
        String clean = StringUtils.cleanPath(decoded.replaceAll("/{2,}", "/"));
        return PathContainer.parsePath(UriUtils.encodePath(clean, StandardCharsets.UTF_8));
    }

    /** As in the log, without the query. */
    public String written() {
        return written;
    }

    /** Relative to the context path. */
    PathContainer parsed() {
        return parsed;
    }

    @Nullable
    PathContainer normalized() {
        return normalized;
    }
}
