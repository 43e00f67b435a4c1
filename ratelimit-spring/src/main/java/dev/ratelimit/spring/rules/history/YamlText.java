package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.text.PropertyName;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Writes properties as YAML. Used by one thread. */
final class YamlText {

    private static final String INDENT = "  ";

    /** A text that is no number, boolean or null in any version of YAML, and has no special characters. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9-]*");

    private static final Set<String> WORDS =
            Set.of("y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan");

    /** What a key of a map may have besides, for Spring Boot, is kept in brackets only. */
    private static final Pattern NAME = Pattern.compile("[a-z0-9-]+");

    private final StringBuilder text = new StringBuilder();
    private int depth;

    /** Writes a group of properties. */
    void group(String name, Runnable properties) {
        line(scalar(name) + ":");
        depth++;
        properties.run();
        depth--;
    }

    /** Writes a group of properties, under a key of a map. */
    void entry(String key, Runnable properties) {
        group(keyOf(key), properties);
    }

    private static String keyOf(String key) {
        return NAME.matcher(key).matches() ? key : "[" + key + "]";
    }

    /** Writes lines of a comment. */
    void comment(String comment) {
        comment.lines().forEach(one -> line("# " + printable(one)));
    }

    /** Writes a property, unless it has its default value. */
    void property(String name, @Nullable Object value, @Nullable Object defaultValue) {
        if (value == null || Objects.equals(value, defaultValue)) {
            return;
        }
        if (value instanceof List<?> list && list.isEmpty()) {
            line(name + ": []");
        } else if (value instanceof List<?> list) {
            group(name, () -> list.forEach(one -> line("- " + scalar(one))));
        } else if (value instanceof Map<?, ?> map) {
            group(name, () -> map.forEach((key, one) -> line(scalar(keyOf(String.valueOf(key))) + ": " + scalar(one))));
        } else {
            line(name + ": " + scalar(value));
        }
    }

    private void line(String line) {
        text.append(INDENT.repeat(depth)).append(line).append('\n');
    }

    private static String scalar(Object value) {
        if (value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        String written = value instanceof Enum<?> constant ? PropertyName.of(constant) : value.toString();
        return PLAIN.matcher(written).matches() && !WORDS.contains(written.toLowerCase(Locale.ROOT))
                ? written
                : quoted(written);
    }

    private static String quoted(String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (isPrintable(c)) {
                quoted.append(c);
            } else {
                quoted.append(String.format("\\u%04x", (int) c));
            }
        }
        return quoted.append('"').toString();
    }

    private static String printable(String comment) {
        StringBuilder printable = new StringBuilder(comment);
        for (int i = 0; i < comment.length(); i++) {
            if (!isPrintable(comment.charAt(i))) {
                printable.setCharAt(i, '?');
            }
        }
        return printable.toString();
    }

    /** In a comment, other characters could end the line. */
    private static boolean isPrintable(char c) {
        return (c >= ' ' && c <= '~') || Character.isLetterOrDigit(c);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
