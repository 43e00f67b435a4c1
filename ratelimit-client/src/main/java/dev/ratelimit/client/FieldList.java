package dev.ratelimit.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The members of a structured field that is a list (RFC 9651), with its parameters, or a dictionary, whose members are
 * parameters alone. Lenient: servers write tokens for strings, times for integers and blanks anywhere. Reads each character
 * once.
 */
final class FieldList {

    private FieldList() {}

    /** The parameters of each member, by their names in lower case. What cannot be read is left out. */
    static List<Map<String, String>> members(String field) {
        List<Map<String, String>> members = new ArrayList<>();
        int end = field.length();
        Map<String, String> parameters = new HashMap<>();
        boolean quoted = false;
        int from = 0;
        for (int i = 0; i <= end; i++) {
            char c = i == end ? ',' : field.charAt(i);
            if (quoted && i < end) {
                i += c == '\\' ? 1 : 0;
                quoted = c != '"';
            } else if (c == '"') {
                quoted = true;
            } else if (c == ';' || c == ',') {
                addTo(parameters, field.substring(from, i));
                from = i + 1;
                if (c == ',') {
                    members.add(parameters);
                    parameters = new HashMap<>();
                }
            }
        }
        return members;
    }

    private static void addTo(Map<String, String> parameters, String text) {
        int equals = text.indexOf('=');
        if (equals > 0) {
            String name = text.substring(0, equals).strip().toLowerCase(Locale.ROOT);
            parameters.put(name, text.substring(equals + 1).strip());
        }
    }
}
