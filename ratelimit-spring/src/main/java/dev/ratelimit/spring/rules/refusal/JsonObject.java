package dev.ratelimit.spring.rules.refusal;

import java.util.List;

/** Writes a flat JSON object (RFC 8259) in ASCII, because refusals must not depend on a JSON library. */
final class JsonObject {

    private final StringBuilder json = new StringBuilder(256).append('{');

    JsonObject add(String name, String value) {
        name(name);
        quote(value);
        return this;
    }

    JsonObject add(String name, long value) {
        name(name);
        json.append(value);
        return this;
    }

    JsonObject add(String name, List<String> values) {
        name(name);
        json.append('[');
        for (int i = 0; i < values.size(); i++) {
            json.append(i == 0 ? "" : ",");
            quote(values.get(i));
        }
        json.append(']');
        return this;
    }

    private void name(String name) {
        if (json.length() > 1) {
            json.append(',');
        }
        quote(name);
        json.append(':');
    }

    private void quote(String text) {
        json.append('"');
        int written = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~' || c == '"' || c == '\\') {
                json.append(text, written, i);
                written = i + 1;
                json.append(c == '"' || c == '\\' ? "\\" + c : String.format("\\u%04x", (int) c));
            }
        }
        json.append(text, written, text.length()).append('"');
    }

    @Override
    public String toString() {
        return json + "}";
    }
}
