package dev.ratelimit.spring.rules.text;

import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Arrays;
import java.util.Locale;

/**
 * The form in which texts of clients are compared: Unicode NFKC, without invisible characters at the ends and, if
 * wanted, without case. Texts that are equal in that form have the same normal text, however they are written.
 *
 * <p>It takes a step per character. {@link Normalizer} alone takes the square of the length: it sorts combining marks by
 * insertion, and moves the rest of a text for each letter that it composes. So it only ever gets short texts here. A text
 * is decomposed in pieces, which leaves nothing open but the order of marks. Marks that no language writes are dropped,
 * by their number, which does not depend on the spelling. The rest is composed if it is short; otherwise, the marks of
 * each letter are put in a fixed order.
 */
public final class NormalText {

    /** How many characters are decomposed at once. */
    static final int PIECE = 32;

    /** How many decomposed characters are composed. A longer text is hashed as a part of a key, so nobody reads it. */
    static final int MAX_COMPOSED = 128;

    /** How many marks a letter can have, as in Unicode's own format for streams (UAX #15, D4). */
    static final int MAX_MARKS = 30;

    private static final int DOT_ABOVE = 0x307;

    /** An iota below a letter; the only mark that is a letter in another case. The last of the letter's marks. */
    private static final int IOTA_BELOW = 0x345;

    private static final char IOTA = '\u03b9';

    /** Brings a text into one of Unicode's forms. */
    @FunctionalInterface
    interface UnicodeForm {
        String of(CharSequence text, Form form);
    }

    private NormalText() {}

    /** The normal text of a value; empty if nothing of it is visible. */
    public static String of(String value, boolean ignoreCase) {
        return of(value, ignoreCase, Normalizer::normalize);
    }

    static String of(String value, boolean ignoreCase, UnicodeForm unicode) {
        if (isAscii(value)) {
            String text = trim(value);
            return ignoreCase ? text.toLowerCase(Locale.ROOT) : text;
        }
        String decomposed = decompose(value, unicode);
        String text = trim(withMarks(ignoreCase ? fold(decomposed) : decomposed, false));
        return text.length() <= MAX_COMPOSED ? unicode.of(text, Form.NFKC) : withMarks(text, true);
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 127) {
                return false;
            }
        }
        return true;
    }

    /** Decomposes all characters; the marks of a letter may be in any order. */
    private static String decompose(String value, UnicodeForm unicode) {
        if (value.length() <= PIECE) {
            return unicode.of(value, Form.NFKD);
        }
        StringBuilder all = new StringBuilder(value.length() + PIECE);
        for (int from = 0; from < value.length(); ) {
            int to = Math.min(from + PIECE, value.length());
            if (to < value.length() && Character.isSurrogatePair(value.charAt(to - 1), value.charAt(to))) {
                to++;
            }
            all.append(unicode.of(value.substring(from, to), Form.NFKD));
            from = to;
        }
        return all.toString();
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

    /** A decomposed text without the marks of letters that have too many, and with the others sorted if so wanted. */
    private static String withMarks(String text, boolean sorted) {
        StringBuilder kept = new StringBuilder(text.length());
        int[] marks = new int[MAX_MARKS];
        int count = 0;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (!isMark(c)) {
                append(kept, marks, count, sorted);
                count = 0;
                kept.appendCodePoint(c);
            } else if (count++ < MAX_MARKS) {
                marks[count - 1] = c;
            }
        }
        append(kept, marks, count, sorted);
        return kept.toString();
    }

    private static void append(StringBuilder text, int[] marks, int count, boolean sorted) {
        if (count > MAX_MARKS) {
            return;
        }
        if (sorted) {
            Arrays.sort(marks, 0, count);
        }
        for (int i = 0; i < count; i++) {
            text.appendCodePoint(marks[i]);
        }
    }
}
