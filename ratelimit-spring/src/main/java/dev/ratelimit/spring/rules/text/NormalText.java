package dev.ratelimit.spring.rules.text;

import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Locale;

/**
 * The form in which texts of clients are compared: Unicode NFKC, without invisible characters at the ends and, if
 * wanted, without case. Texts that are equal in that form have the same normal text, however they are written.
 *
 * <p>A longer text is compared as it is written: no account has such a name, and {@link Normalizer} takes the square of
 * the length of a text, because it sorts combining marks by insertion.
 */
public final class NormalText {

    /** How many characters are normalized, which takes a few steps for each pair of them at worst. */
    static final int MAX_NORMALIZED = 256;

    private static final int DOT_ABOVE = 0x307;

    /** An iota below a letter; the only mark that is a letter in another case. The last of the letter's marks. */
    private static final int IOTA_BELOW = 0x345;

    private static final char IOTA = '\u03b9';

    private NormalText() {}

    /** The normal text of a value; empty if nothing of it is visible. */
    public static String of(String value, boolean ignoreCase) {
        String text = trim(value);
        if (isAscii(text)) {
            return ignoreCase ? text.toLowerCase(Locale.ROOT) : text;
        }
        if (text.length() > MAX_NORMALIZED) {
            return ignoreCase ? fold(text) : text;
        }
        String letters = ignoreCase ? fold(Normalizer.normalize(text, Form.NFKD)) : text;
        return trim(Normalizer.normalize(letters, Form.NFKC));
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 127) {
                return false;
            }
        }
        return true;
    }

    /** The text without blanks and control characters at the ends, which readers cannot see. */
    private static String trim(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && invisible(text.charAt(from))) {
            from++;
        }
        while (to > from && invisible(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    private static boolean invisible(char c) {
        return c <= ' '
                || Character.isISOControl(c)
                || Character.isWhitespace(c)
                || Character.isSpaceChar(c)
                || Character.getType(c) == Character.FORMAT;
    }

    /**
     * A decomposed text without case, the same for all letters that some language considers equal, including dotless and
     * dotted i, and whatever the order of marks.
     */
    private static String fold(String text) {
        StringBuilder folded = new StringBuilder(text.length() + 8);
        boolean dotted = false;
        int iotas = 0;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (c == IOTA_BELOW) {
                iotas++;
            } else if (!isMark(c)) {
                append(folded, iotas);
                iotas = 0;
                String letter = foldLetter(c);
                folded.append(letter);
                dotted = letter.endsWith("i");
            } else if (c != DOT_ABOVE || !dotted) {
                folded.appendCodePoint(c);
            }
        }
        append(folded, iotas);
        return folded.toString();
    }

    private static void append(StringBuilder text, int iotas) {
        for (int i = 0; i < iotas; i++) {
            text.append(IOTA);
        }
    }

    /** First the small letter, because the capital sharp s is not the capital of the small one. */
    private static String foldLetter(int letter) {
        return letter < 128
                ? Character.toString(Character.toLowerCase(letter))
                : Character.toString(letter)
                        .toLowerCase(Locale.ROOT)
                        .toUpperCase(Locale.ROOT)
                        .toLowerCase(Locale.ROOT);
    }

    private static boolean isMark(int c) {
        return switch (Character.getType(c)) {
            case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK -> true;
            default -> false;
        };
    }
}
