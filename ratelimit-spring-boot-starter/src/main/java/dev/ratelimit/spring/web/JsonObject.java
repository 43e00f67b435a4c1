package dev.ratelimit.spring.web;

import java.util.List;
import java.util.stream.Collectors;

/** Writes a flat JSON object (RFC 8259), in ASCII. For a refusal, which must not depend on a JSON library being there. */
final class JsonObject {

    private final StringBuilder json = new StringBuilder("{");

    JsonObject add(String name, String value) {
        return addRaw(name, quote(value));
    }

    JsonObject add(String name, long value) {
        return addRaw(name, Long.toString(value));
    }

    JsonObject add(String name, List<String> values) {
        return addRaw(name, values.stream().map(JsonObject::quote).collect(Collectors.joining(",", "[", "]")));
    }

    private JsonObject addRaw(String name, String value) {
        json.append(json.length() == 1 ? "" : ",")
                .append(quote(name))
                .append(':')
                .append(value);
        return this;
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    @Override
    public String toString() {
        return json + "}";
    }
}
