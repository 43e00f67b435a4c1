package dev.ratelimit.algorithm;

import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options of a limit besides its rate, by name and in the notation of the configuration. {@link Algorithm} defines
 * which options exist and what they mean. Immutable.
 */
public final class LimitOptions {

    /** No options. */
    public static final LimitOptions NONE = new LimitOptions(Map.of());

    private final Map<String, String> written;

    private LimitOptions(Map<String, String> written) {
        this.written = written;
    }

    /**
     * {@return a copy with this option, which replaces a previous value}
     *
     * @param name such as {@code burst}
     * @param value its notation, such as {@code first-hit}, or an object with that text, such as a number or a
     *     constant; {@code null} removes the option
     */
    public LimitOptions with(String name, @Nullable Object value) {
        Map<String, String> all = new LinkedHashMap<>(written);
        if (value == null) {
            all.remove(name);
        } else {
            all.put(name, value.toString());
        }
        return new LimitOptions(Collections.unmodifiableMap(all));
    }

    /** {@return the names of the options, in the order in which they were set} Unmodifiable. */
    public Set<String> names() {
        return written.keySet();
    }

    /** Each option as {@code name=value}, after a space. */
    String words() {
        return written.entrySet().stream()
                .map(option -> " " + option.getKey() + "=" + option.getValue())
                .collect(Collectors.joining());
    }

    /** The value of an option that is a whole number. */
    long number(String name, long otherwise) {
        String text = written.get(name);
        try {
            return text == null ? otherwise : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a whole number but was '" + text + "'", e);
        }
    }

    /** The value of an option that is a constant of an enum, written {@code first-hit} or {@code FIRST_HIT}. */
    <E extends Enum<E>> E choice(String name, E otherwise) {
        String text = written.get(name);
        if (text == null) {
            return otherwise;
        }
        E[] choices = otherwise.getDeclaringClass().getEnumConstants();
        return Stream.of(choices)
                .filter(choice -> notation(choice).equals(notation(text)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + " must be "
                        + Stream.of(choices).map(LimitOptions::notation).collect(Collectors.joining(" or "))
                        + " but was '" + text + "'"));
    }

    /** The value of an option that is a time zone. */
    ZoneId zone(String name, ZoneId otherwise) {
        String text = written.get(name);
        try {
            return text == null ? otherwise : ZoneId.of(text);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    name + " must be a time zone, such as Europe/Berlin, but was '" + text + "'", e);
        }
    }

    private static String notation(Object choice) {
        return choice.toString().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
