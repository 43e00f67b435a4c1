package dev.ratelimit.redis.storm;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a line of a history, such as {@code at=1.2s do=CUT}. A field that is absent has a default, and is not
 * written if it has that; one that nobody knows is an error, because the history would not be what it says.
 */
final class Fields {

    private static final BigDecimal SECOND = BigDecimal.valueOf(1_000_000_000);
    private static final Map<String, Long> UNITS =
            Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L);

    private final Map<String, String> values = new LinkedHashMap<>();
    private final Set<String> read = new HashSet<>();

    /** Reads the fields of a line. */
    static Fields of(String line) {
        Fields fields = new Fields();
        for (String field : line.strip().split("\\s+", -1)) {
            int equals = field.indexOf('=');
            if (equals < 0 || fields.values.put(field.substring(0, equals), field.substring(equals + 1)) != null) {
                throw new IllegalArgumentException("a field is name=value, once, but was '" + field + "' in: " + line);
            }
        }
        return fields;
    }

    /** Adds a field unless it has its default. */
    <T> Fields with(String name, T value, @Nullable T otherwise, Function<T, String> text) {
        if (!value.equals(otherwise)) {
            values.put(name, text.apply(value));
        }
        return this;
    }

    /** Sets a field. */
    Fields set(String name, String value) {
        values.put(name, value);
        return this;
    }

    /** Adds a field unless it has its default. */
    <T> Fields with(String name, T value, @Nullable T otherwise) {
        return with(name, value, otherwise, String::valueOf);
    }

    /** Adds a time unless it is the default. */
    Fields withTime(String name, long nanos, long otherwise) {
        return with(name, nanos, otherwise, Fields::time);
    }

    /** A field, converted, or its default. */
    <T> T get(String name, T otherwise, Function<String, T> parse) {
        read.add(name);
        String value = values.get(name);
        return value == null ? otherwise : parse.apply(value);
    }

    /** A field that every line of this kind has. */
    String get(String name) {
        read.add(name);
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no " + name + " in: " + this);
        }
        return value;
    }

    int number(String name, int otherwise) {
        return get(name, otherwise, Integer::valueOf);
    }

    boolean flag(String name) {
        return get(name, false, Boolean::valueOf);
    }

    /** A time in nanoseconds. */
    long time(String name, long otherwise) {
        return get(name, otherwise, Fields::nanos);
    }

    /** Fails if there are fields that were not asked for. */
    void requireAllRead() {
        List<String> unknown = new ArrayList<>(values.keySet());
        unknown.removeAll(read);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("unknown " + unknown + " in: " + this);
        }
    }

    /** Nanoseconds from text, such as {@code 37ms} or {@code 1.35s}. */
    static long nanos(String text) {
        int unit = text.length();
        while (unit > 0 && Character.isLetter(text.charAt(unit - 1))) {
            unit--;
        }
        Long nanos = UNITS.get(text.substring(unit));
        if (nanos == null) {
            throw new IllegalArgumentException("a time is a number of ns, us, ms, s or m but was '" + text + "'");
        }
        return new BigDecimal(text.substring(0, unit))
                .multiply(BigDecimal.valueOf(nanos))
                .longValueExact();
    }

    /** Nanoseconds as text, in seconds. */
    static String time(long nanos) {
        return BigDecimal.valueOf(nanos).divide(SECOND).stripTrailingZeros().toPlainString() + "s";
    }

    static Duration duration(String text) {
        return Duration.ofNanos(nanos(text));
    }

    @Override
    public String toString() {
        List<String> fields = new ArrayList<>();
        values.forEach((name, value) -> fields.add(name + "=" + value));
        return String.join(" ", fields);
    }
}
