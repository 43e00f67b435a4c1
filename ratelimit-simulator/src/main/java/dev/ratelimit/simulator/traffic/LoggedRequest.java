package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.traffic.Field.Kind;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.rule.FreeStatuses;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpCookie;
import org.springframework.http.server.PathContainer;

/** A request as a line of a log has recorded it. What the log lacks, the request does not have. Immutable. */
public final class LoggedRequest implements WebRequest {

    /** Stands for a status or a duration that the log lacks. */
    public static final int UNKNOWN = -1;

    private static final Field USER = Field.of(Kind.USER);
    private static final Field ROLES = Field.of(Kind.ROLES);
    private static final Field SESSION = Field.of(Kind.SESSION);
    private static final Field ADDRESS = Field.of(Kind.ADDRESS);
    private static final Set<Kind> OF_CALLER = EnumSet.of(Kind.USER, Kind.ROLES, Kind.CLAIM);

    /** Where a request leads to. */
    record Target(String method, LoggedPath path, @Nullable String query) {}

    /** The status of a response, and how long it took. */
    record Answer(int status, long durationNanos) {}

    private final long nanos;
    private final Target target;
    private final Answer answer;
    private final Map<Field, String> values;
    private final Map<String, RecordedCharge> charges;

    LoggedRequest(
            long nanos, Target target, Answer answer, Map<Field, String> values, Map<String, RecordedCharge> charges) {
        this.nanos = nanos;
        this.target = target;
        this.answer = answer;
        this.values = values;
        this.charges = charges;
    }

    /** The same as limits see it before Spring Security has found out who the caller is. */
    public LoggedRequest withoutCaller() {
        if (principal() == null) {
            return this;
        }
        Map<Field, String> others = new HashMap<>(values);
        others.keySet().removeIf(field -> OF_CALLER.contains(field.kind()));
        return new LoggedRequest(nanos, target, answer, others, charges);
    }

    /** When it began, in nanoseconds since the epoch. */
    public long nanos() {
        return nanos;
    }

    /** The status of the response; {@link #UNKNOWN} if the log lacks it. */
    public int status() {
        return answer.status();
    }

    /** Whether a policy of the application that has recorded it refused it, so that nobody knows what it would have done. */
    boolean wasRefused() {
        return status() == UNKNOWN && !charges.isEmpty();
    }

    /** Whether its status is known, and one of these. */
    public boolean isFree(FreeStatuses free) {
        return status() != UNKNOWN && free.contains(status());
    }

    /** How long it took; {@link #UNKNOWN} if the log lacks it. */
    public long durationNanos() {
        return answer.durationNanos();
    }

    /** The caller; {@code null} for anonymous ones. */
    public @Nullable String user() {
        Principal caller = principal();
        return caller == null ? null : caller.getName();
    }

    /** The values of the fields of a kind, by name. */
    private Map<String, String> named(Kind kind) {
        Map<String, String> all = new HashMap<>();
        values.forEach((field, value) -> {
            if (field.kind() == kind) {
                all.put(field.name(), value);
            }
        });
        return all;
    }

    @Override
    public String method() {
        return target.method();
    }

    /** Logs do not have the host. */
    @Override
    public String url() {
        return "http://localhost" + target.path().written();
    }

    @Override
    public PathContainer path() {
        return target.path().parsed();
    }

    @Override
    public @Nullable PathContainer normalizedPath() {
        return target.path().normalized();
    }

    @Override
    public @Nullable String query() {
        return target.query();
    }

    @Override
    public List<String> headers(String name) {
        String value = values.get(new Field(Kind.HEADER, name.toLowerCase(Locale.ROOT)));
        return value == null ? List.of() : List.of(value);
    }

    @Override
    public Collection<String> headerNames() {
        return named(Kind.HEADER).keySet();
    }

    @Override
    public long contentLength() {
        return UNKNOWN;
    }

    @Override
    public List<HttpCookie> cookies() {
        return named(Kind.COOKIE).entrySet().stream()
                .map(cookie -> new HttpCookie(cookie.getKey(), cookie.getValue()))
                .toList();
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
        String query = target.query();
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
        String user = values.get(USER);
        Map<String, String> claims = named(Kind.CLAIM);
        return user == null && claims.isEmpty() ? null : LoggedCaller.of(user == null ? "" : user, claims);
    }

    @Override
    public boolean hasRole(String role) {
        List<String> roles = List.of(values.getOrDefault(ROLES, "").split("[, ]+"));
        return roles.contains(role) || roles.contains("ROLE_" + role);
    }

    @Override
    public @Nullable String sessionId() {
        return values.get(SESSION);
    }

    @Override
    public @Nullable Object attribute(String name) {
        return RecordedCharge.attribute(charges, name);
    }

    @Override
    public @Nullable String remoteAddress() {
        return values.get(ADDRESS);
    }

    @Override
    public Map<String, @Nullable String> resolved() {
        Map<String, @Nullable String> beans = new HashMap<>(named(Kind.BEAN));
        RecordedCharge.addPlans(charges, beans);
        return beans;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return null;
    }
}
