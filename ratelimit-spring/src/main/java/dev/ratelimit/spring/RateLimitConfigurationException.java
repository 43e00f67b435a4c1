package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/** A mistake in the configuration of rate limits. It stops the start of the application. */
public final class RateLimitConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The property, or the annotation with class and method. */
    private final String where;

    /** The value of the property; {@code null} if there is none. */
    private final @Nullable String written;

    /** What is wrong. */
    private final String reason;

    /** What to write instead; {@code null} if the reason says enough. */
    private final @Nullable String remedy;

    /**
     * Creates an exception for one mistake.
     *
     * @param where the property, or the annotation with class and method
     * @param written the value of the property; {@code null} if there is none
     * @param reason what is wrong and, after a semicolon, what to write instead
     */
    public RateLimitConfigurationException(String where, @Nullable String written, String reason) {
        super(where + ": " + reason);
        int end = endOfReason(reason);
        this.where = where;
        this.written = written;
        this.reason = reason.substring(0, end);
        this.remedy = end == reason.length() ? null : reason.substring(end + 1).strip();
    }

    /** The first semicolon outside of quotes. */
    private static int endOfReason(String text) {
        boolean quoted = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\'') {
                // an apostrophe follows a letter
                quoted = !quoted && (i == 0 || !Character.isLetter(text.charAt(i - 1)));
            } else if (c == ';' && !quoted) {
                return i;
            }
        }
        return text.length();
    }

    /** {@return the property, or the annotation with class and method} */
    public String where() {
        return where;
    }

    /** {@return the value of the property; {@code null} if there is none} */
    public @Nullable String written() {
        return written;
    }

    /** {@return what is wrong} */
    public String reason() {
        return reason;
    }

    /** {@return what to write instead; {@code null} if the reason says enough} */
    public @Nullable String remedy() {
        return remedy;
    }
}
