package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.text.Json;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A value that an operator has set: of a property of a policy, or the limits of a key. Immutable.
 *
 * @param to the value
 * @param since when it was accepted, in microseconds since the epoch
 * @param until when it ends, in microseconds since the epoch; {@link #NEVER} if it has no end
 * @param by who has set it
 * @param reason why; {@code null} if nobody has said that
 * @param configured the value of the configuration at that moment, as {@link ConfiguredValue} writes it; may be empty
 */
public record ChangedValue(
        String to,
        long since,
        long until,
        String by,
        @Nullable String reason,
        String configured) {

    /** The end of what has none. */
    public static final long NEVER = Long.MAX_VALUE;

    /** The value, for {@link #text}. */
    public Map<String, Object> json() {
        return json(since, until == NEVER ? null : until);
    }

    /** The value, for {@link #text}, with the moment when it is accepted, and this end. */
    public Map<String, Object> asked(ChangeEnd end) {
        return json(ChangeStore.ACCEPTED, end.json());
    }

    private Map<String, Object> json(Object accepted, @Nullable Object end) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("to", to);
        json.put("since", accepted);
        json.put("by", by);
        json.put("configured", configured);
        if (end != null) {
            json.put("until", end);
        }
        if (reason != null) {
            json.put("reason", reason);
        }
        return json;
    }

    /** Values by property, for {@link #text}. */
    public static Map<String, Map<String, Object>> json(Map<String, ChangedValue> values) {
        Map<String, Map<String, Object>> json = new TreeMap<>();
        values.forEach((property, value) -> json.put(property, value.json()));
        return json;
    }

    /** Values by property as a text, which is empty for none. */
    public static String text(Map<String, Map<String, Object>> values) {
        return values.isEmpty() ? "" : Json.write(new TreeMap<>(values));
    }

    /**
     * Reads {@link #text}.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    public static Map<String, ChangedValue> parse(String text) {
        Map<String, ChangedValue> values = new TreeMap<>();
        if (!text.isEmpty()) {
            Json.parse(text).forEach((property, value) -> values.put(property, of(value)));
            if (values.isEmpty()) {
                throw new IllegalArgumentException("not a change: " + Quotation.of(text));
            }
        }
        return values;
    }

    private static ChangedValue of(Object json) {
        if (json instanceof Map<?, ?> map
                && map.get("to") instanceof String to
                && map.get("since") instanceof Number since
                && map.get("by") instanceof String by
                && map.get("configured") instanceof String configured) {
            return new ChangedValue(
                    to,
                    since.longValue(),
                    map.get("until") instanceof Number until ? until.longValue() : NEVER,
                    by,
                    map.get("reason") instanceof String reason ? reason : null,
                    configured);
        }
        throw new IllegalArgumentException("not a change: " + Quotation.of(String.valueOf(json)));
    }

    /** Whether its end has come at this moment, in microseconds since the epoch. */
    public boolean hasEndedAt(long micros) {
        return until <= micros;
    }

    /** When it ends; {@code null} if it has no end. */
    public @Nullable Instant end() {
        return until == NEVER ? null : instant(until);
    }

    /** A moment in microseconds since the epoch. */
    public static Instant instant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1000L);
    }

    /** The microseconds since the epoch, rounded down. */
    static long micros(Instant moment) {
        return Math.addExact(Math.multiplyExact(moment.getEpochSecond(), 1_000_000L), moment.getNano() / 1000);
    }
}
