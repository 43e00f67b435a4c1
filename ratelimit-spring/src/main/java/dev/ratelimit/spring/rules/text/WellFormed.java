package dev.ratelimit.spring.rules.text;

import org.jspecify.annotations.Nullable;

/**
 * Keeps text that is no sequence of characters out of what instances share: half of a surrogate pair has no encoding, so
 * it would not be the same text elsewhere.
 */
public final class WellFormed {

    private WellFormed() {}

    /**
     * Checks text that others are to read as it is.
     *
     * @param name of the value
     * @throws IllegalArgumentException if it has half of a surrogate pair
     */
    public static void check(String name, @Nullable String text) {
        if (text != null && text.codePoints().anyMatch(WellFormed::isHalf)) {
            throw new IllegalArgumentException(
                    name + " must be valid Unicode but has half of a surrogate pair: " + Quotation.of(text));
        }
    }

    /**
     * Checks text that others are to read as it is, and keep.
     *
     * @param name of the value
     * @param max its maximum length, in {@code char} values
     * @throws IllegalArgumentException if it is longer, or has half of a surrogate pair
     */
    public static void check(String name, @Nullable String text, int max) {
        if (text != null && text.length() > max) {
            throw new IllegalArgumentException(
                    name + " must have at most " + max + " characters but has " + text.length());
        }
        check(name, text);
    }

    /** The text with U+FFFD for each half of a surrogate pair. */
    public static String of(String text) {
        return text.codePoints()
                .map(c -> isHalf(c) ? 0xFFFD : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** The beginning of a text, at most so many {@code char} values, which does not end within a surrogate pair. */
    public static String beginning(String text, int max) {
        if (text.length() <= max) {
            return text;
        }
        boolean within = max > 0 && Character.isSurrogatePair(text.charAt(max - 1), text.charAt(max));
        return text.substring(0, within ? max - 1 : max);
    }

    private static boolean isHalf(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }
}
