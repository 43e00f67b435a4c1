package dev.ratelimit.spring.boot.actuate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a request to the endpoint says: its parameters, or the fields of its body.
 *
 * @param values by name: a value, or several
 */
record SentArguments(Map<String, Object> values) {

    /**
     * The only value; {@code null} without one.
     *
     * @throws IllegalArgumentException if there are several
     */
    @Nullable
    String only(String name) {
        List<String> all = all(name);
        if (all.size() > 1) {
            throw new IllegalArgumentException("there are " + all.size() + " values of " + name + "; write one");
        }
        return all.isEmpty() ? null : all.get(0);
    }

    /** The first value; {@code null} without one. */
    @Nullable
    String first(String name) {
        List<String> all = all(name);
        return all.isEmpty() ? null : all.get(0);
    }

    List<String> all(String name) {
        return texts(values.get(name));
    }

    /** As sent, one or several times: the type String would be split at its commas, if it were a list. */
    static List<String> texts(@Nullable Object sent) {
        if (sent == null) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        (sent instanceof Collection<?> several ? several : List.of(sent))
                .forEach(text -> texts.add(String.valueOf(text)));
        return texts;
    }
}
