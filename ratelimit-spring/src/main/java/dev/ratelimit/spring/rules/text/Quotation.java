package dev.ratelimit.spring.rules.text;

import org.jspecify.annotations.Nullable;

/** Quotes configured or sent text in messages: short, and without control characters. */
public final class Quotation {

    private static final int SHOWN = 60;
    private static final int MAX_MESSAGE = 200;

    private Quotation() {}

    /** The text in quotes: at most 60 characters, with control and non-ASCII characters escaped. */
    public static String of(String text) {
        StringBuilder quoted = new StringBuilder("'");
        int shown = Math.min(text.length(), SHOWN);
        for (int i = 0; i < shown; i++) {
            char c = text.charAt(i);
            quoted.append(c >= ' ' && c <= '~' ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
        return quoted.append(shown < text.length() ? "..." : "").append('\'').toString();
    }

    /** The text around this position on a separate line, with a caret below the position. */
    public static String pointingAt(int position, String text) {
        int at = Math.min(Math.max(position, 0), text.length());
        int from = Math.max(0, at - SHOWN);
        String shown = printable(text.substring(from, Math.min(text.length(), from + 2 * SHOWN)));
        return "\n      " + shown + "\n      " + " ".repeat(at - from) + "^";
    }

    /** A parser's message, which may contain the whole input: at most 200 characters of it. */
    public static String message(@Nullable String text) {
        String message = String.valueOf(text);
        return printable(message.substring(0, Math.min(message.length(), MAX_MESSAGE)));
    }

    private static String printable(String text) {
        StringBuilder printable = new StringBuilder(text);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < ' ' || c > '~') && !Character.isLetterOrDigit(c)) {
                printable.setCharAt(i, '?');
            }
        }
        return printable.toString();
    }
}
