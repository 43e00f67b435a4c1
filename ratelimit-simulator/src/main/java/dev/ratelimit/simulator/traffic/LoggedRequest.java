package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;

/** A request as a line of a log has recorded it. What the log lacks, the request does not have. Immutable. */
public final class LoggedRequest implements WebRequest {

    /** Stands for a status or a duration that the log lacks. */
    public static final int UNKNOWN = -1;

    private final long nanos;
    private final String method;
    private final LoggedPath path;
    private final @Nullable String query;
    private final @Nullable String address;
    private final int status;
    private final long durationNanos;
    private final LoggedValues values;

    LoggedRequest(RequestDraft draft, LoggedPath path) {
        this.nanos = draft.startNanos();
        this.method = draft.method();
        this.path = path;
        this.query = draft.query();
        this.address = draft.address();
        this.status = draft.status();
        this.durationNanos = draft.durationNanos();
        this.values = draft.values();
    }

    private LoggedRequest(LoggedRequest other, LoggedValues values) {
        this.nanos = other.nanos;
        this.method = other.method;
        this.path = other.path;
        this.query = other.query;
        this.address = other.address;
        this.status = other.status;
        this.durationNanos = other.durationNanos;
        this.values = values;
    }

    /** The same as limits see it before Spring Security has found out who the caller is. */
    public LoggedRequest withoutCaller() {
        return values.caller() == null ? this : new LoggedRequest(this, values.withoutCaller());
    }

    /** When it began, in nanoseconds since the epoch. */
    public long nanos() {
        return nanos;
    }

    /** The status of the response; {@link #UNKNOWN} if the log lacks it. */
    public int status() {
        return status;
    }

    /** Whether a policy of the application that has recorded it refused it, so that nobody knows what it would have done. */
    boolean wasRefused() {
        return status == UNKNOWN && !values.charges().isEmpty();
    }

    /** Whether its status is known, and one of these. */
    public boolean isFree(FreeStatuses free) {
        return status != UNKNOWN && free.contains(status);
    }

    /** How long it took; {@link #UNKNOWN} if the log lacks it. */
    public long durationNanos() {
        return durationNanos;
    }

    /** The caller; {@code null} for anonymous ones. */
    public @Nullable String user() {
        return values.user();
    }

    @Override
    public String method() {
        return method;
    }

    /** Logs do not have the host. */
    @Override
    public String url() {
        return "http://localhost" + path.written();
    }

    @Override
    public PathContainer path() {
        return path.parsed();
    }

    @Override
    public @Nullable PathContainer normalizedPath() {
        return path.normalized();
    }

    @Override
    public @Nullable String query() {
        return query;
    }

    @Override
    public List<String> headers(String name) {
        String value = values.headers().get(name.toLowerCase(Locale.ROOT));
        return value == null ? List.of() : List.of(value);
    }

    @Override
    public Collection<String> headerNames() {
        return values.headers().keySet();
    }

    @Override
    public long contentLength() {
        return UNKNOWN;
    }

    @Override
    public List<HttpCookie> cookies() {
        if (values.cookies().isEmpty()) {
            return List.of();
        }
        List<HttpCookie> all = new ArrayList<>();
        values.cookies().forEach((name, value) -> all.add(new HttpCookie(name, value)));
        return all;
    }

    /** Those of the query: logs do not have bodies. */
    @Override
    public List<String> parameters(String name) {
        return pairs().filter(pair -> pair[0].equals(name))
                .map(pair -> pair.length == 1 ? "" : pair[1])
                .toList();
    }

    @Override
    public Collection<String> parameterNames() {
        return pairs().map(pair -> pair[0]).distinct().toList();
    }

    private Stream<String[]> pairs() {
        return query == null || query.isEmpty()
                ? Stream.of()
                : Stream.of(query.split("&", -1)).map(LoggedRequest::decoded);
    }

    private static String[] decoded(String pair) {
        String[] parts = pair.split("=", 2);
        for (int i = 0; i < parts.length; i++) {
            try {
                parts[i] = URLDecoder.decode(parts[i], StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                // not encoded correctly; the application would refuse it, or see what is written
            }
        }
        return parts;
    }

    @Override
    public @Nullable Principal principal() {
        return values.caller();
    }

    @Override
    public boolean hasRole(String role) {
        return values.roles().contains(role) || values.roles().contains("ROLE_" + role);
    }

    @Override
    public @Nullable String sessionId() {
        return values.session();
    }

    @Override
    public @Nullable Object attribute(String name) {
        return RecordedCharge.attribute(values.charges(), name);
    }

    @Override
    public @Nullable String remoteAddress() {
        return address;
    }

    @Override
    public Map<String, @Nullable String> resolved() {
        return RecordedCharge.plans(values.charges(), values.beans());
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return null;
    }
}
