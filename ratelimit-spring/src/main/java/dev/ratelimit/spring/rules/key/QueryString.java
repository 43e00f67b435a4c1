package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.rules.text.Tokens;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads parameters of a query without touching the body of the request. */
public final class QueryString {

    private QueryString() {}

    /** The value of the parameter; {@code null} unless it occurs exactly once. */
    static @Nullable String only(@Nullable CharSequence query, String name) {
        List<String> values = values(query, name);
        return values.size() == 1 ? values.get(0) : null;
    }

    /** The values of the parameter, in their order. */
    static List<String> values(@Nullable CharSequence query, String name) {
        List<String> values = List.of();
        for (int from = 0; query != null && from <= query.length(); ) {
            int ampersand = Tokens.indexOf(query, '&', from, query.length());
            int to = ampersand < 0 ? query.length() : ampersand;
            int equals = Tokens.indexOf(query, '=', from, to);
            int nameEnd = equals < 0 ? to : equals;
            if (isName(query, from, nameEnd, name)) {
                values = values.isEmpty() ? new ArrayList<>(1) : values;
                values.add(
                        nameEnd == to
                                ? ""
                                : decode(query.subSequence(nameEnd + 1, to).toString()));
            }
            from = to + 1;
        }
        return values;
    }

    /** How often the parameter occurs. */
    public static int count(@Nullable CharSequence query, String name) {
        return values(query, name).size();
    }

    private static boolean isName(CharSequence query, int from, int to, String name) {
        return Tokens.is(name, query, from, to)
                || (isEncoded(query, from, to)
                        && decode(query.subSequence(from, to).toString()).equals(name));
    }

    private static boolean isEncoded(CharSequence text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text.charAt(i) == '%' || text.charAt(i) == '+') {
                return true;
            }
        }
        return false;
    }

    private static String decode(String text) {
        if (!isEncoded(text, 0, text.length())) {
            return text;
        }
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException broken) {
            return text;
        }
    }
}
