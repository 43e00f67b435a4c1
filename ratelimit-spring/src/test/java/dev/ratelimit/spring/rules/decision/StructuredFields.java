package dev.ratelimit.spring.rules.decision;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses a list of items whose values are strings and whose parameters are integers (RFC 9651, section 4.2). */
final class StructuredFields {

    /** A string and its parameters. */
    record Item(String name, Map<String, Long> parameters) {}

    private final String text;
    private int at;

    private StructuredFields(String text) {
        this.text = text;
    }

    static List<Item> list(String text) {
        StructuredFields fields = new StructuredFields(text);
        List<Item> items = new ArrayList<>();
        while (fields.at < text.length()) {
            items.add(new Item(fields.string(), fields.parameters()));
            fields.skip(" \t");
            if (fields.at < text.length()) {
                fields.expect(',');
                fields.skip(" \t");
                fields.check(fields.at < text.length(), "a comma at the end");
            }
        }
        return items;
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (peek() != '"') {
            char c = next();
            if (c == '\\') {
                c = next();
                check(c == '"' || c == '\\', "an escape of something else");
            }
            check(c >= ' ' && c <= '~', "a character beyond ASCII");
            string.append(c);
        }
        expect('"');
        return string.toString();
    }

    private Map<String, Long> parameters() {
        Map<String, Long> parameters = new LinkedHashMap<>();
        while (at < text.length() && peek() == ';') {
            expect(';');
            skip(" ");
            String key = key();
            expect('=');
            check(parameters.put(key, integer()) == null, "a parameter twice");
        }
        return parameters;
    }

    private String key() {
        int from = at;
        while (at < text.length() && "abcdefghijklmnopqrstuvwxyz0123456789_-.*".indexOf(peek()) >= 0) {
            at++;
        }
        String key = text.substring(from, at);
        check(key.matches("[a-z*].*"), "no key");
        return key;
    }

    private long integer() {
        int from = at;
        if (peek() == '-') {
            at++;
        }
        while (at < text.length() && peek() >= '0' && peek() <= '9') {
            at++;
        }
        String digits = text.substring(from, at);
        check(digits.matches("-?[0-9]{1,15}"), "no integer");
        return Long.parseLong(digits);
    }

    private void skip(String blanks) {
        while (at < text.length() && blanks.indexOf(peek()) >= 0) {
            at++;
        }
    }

    private void expect(char c) {
        check(next() == c, "not " + c);
    }

    private char next() {
        char c = peek();
        at++;
        return c;
    }

    private char peek() {
        check(at < text.length(), "an end");
        return text.charAt(at);
    }

    private void check(boolean holds, String mistake) {
        if (!holds) {
            throw new AssertionError(mistake + " at " + at + " of " + text);
        }
    }
}
