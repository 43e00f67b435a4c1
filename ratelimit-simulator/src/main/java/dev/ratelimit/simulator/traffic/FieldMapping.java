package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.traffic.Field.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which fields of a log say what, by their names in the log: the usual ones, and those that the user has named. Immutable.
 */
public final class FieldMapping {

    private static final Map<String, Kind> USUAL = usual(Map.of(
            Kind.TIME,
                    List.of("time", "timestamp", "@timestamp", "ts", "t", "date", "msec", "time_local", "time_iso8601"),
            Kind.ADDRESS, List.of("remote_addr", "address", "ip", "client_ip", "clientip", "remote_ip", "remote_host"),
            Kind.USER, List.of("user", "remote_user", "username", "user_name"),
            Kind.REQUEST, List.of("request", "request_line"),
            Kind.METHOD, List.of("method", "request_method", "http_method", "verb"),
            Kind.PATH, List.of("path", "uri", "request_uri", "url", "request_path"),
            Kind.QUERY, List.of("query", "query_string", "args"),
            Kind.STATUS, List.of("status", "status_code", "response_code", "http_status"),
            Kind.DURATION,
                    List.of("duration", "request_time", "duration_ms", "elapsed_ms", "latency_ms", "duration_us")));

    private final Map<String, Field> named;
    private final Set<Kind> taken;

    private FieldMapping(Map<String, Field> named) {
        this.named = named;
        this.taken = Set.copyOf(named.values().stream().map(Field::kind).toList());
    }

    /** Knows the usual names only. */
    public static final FieldMapping USUAL_NAMES = new FieldMapping(Map.of());

    private static Map<String, Kind> usual(Map<Kind, List<String>> names) {
        Map<String, Kind> all = new HashMap<>();
        names.forEach((kind, each) -> each.forEach(name -> all.put(name, kind)));
        return all;
    }

    /**
     * The same with a field that the user has named. No other field then has this kind unless it is named, too.
     *
     * @param kind what the field says
     * @param name the header, cookie, claim or bean; empty if the kind has no names
     * @param field the name of the field in the log, in whichever case
     */
    public FieldMapping with(Kind kind, String name, String field) {
        Map<String, Field> more = new HashMap<>(named);
        more.put(field.toLowerCase(Locale.ROOT), kind == Kind.DURATION ? Field.duration(field) : new Field(kind, name));
        return new FieldMapping(Map.copyOf(more));
    }

    /** What the field of this name says. */
    public Field of(String field) {
        String lower = field.toLowerCase(Locale.ROOT);
        Field own = named.get(lower);
        if (own != null) {
            return own;
        }
        Kind usual = USUAL.get(lower);
        if (usual == null || taken.contains(usual)) {
            return Field.OTHER;
        }
        return usual == Kind.DURATION ? Field.duration(field) : Field.of(usual);
    }

    /** What a field says whose meaning the format knows, unless the user says something else about it. */
    Field of(String field, Field known) {
        Field own = named.get(field.toLowerCase(Locale.ROOT));
        if (own != null) {
            return own;
        }
        if (known.kind() == Kind.DURATION) {
            return taken.contains(Kind.DURATION) ? Field.OTHER : Field.duration(field);
        }
        return known.name().isEmpty() && taken.contains(known.kind()) ? Field.OTHER : known;
    }

    /** A name of the user's that is none of the log's fields; {@code null} if all are. */
    @Nullable
    String firstNotIn(Set<String> fields) {
        return named.keySet().stream()
                .filter(name -> fields.stream().noneMatch(name::equalsIgnoreCase))
                .sorted()
                .findFirst()
                .orElse(null);
    }
}
