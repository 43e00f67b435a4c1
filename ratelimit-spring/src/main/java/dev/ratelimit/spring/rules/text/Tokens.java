package dev.ratelimit.spring.rules.text;

/** Tokens of HTTP (RFC 9110, section 5.6.2), such as the names of headers, and their separators. */
public final class Tokens {

    private Tokens() {}

    /** Whether the text is a token of at most 100 characters. */
    public static boolean isToken(String text) {
        return !text.isEmpty() && text.length() <= 100 && text.chars().allMatch(Tokens::isTokenCharacter);
    }

    private static boolean isTokenCharacter(int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
    }

    /**
     * The first index of the character, or -1. Unlike {@link String#indexOf(int, int)}, it does not search beyond
     * {@code to}: a line with many short parts would otherwise take quadratic time.
     */
    public static int indexOf(CharSequence text, char c, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text.charAt(i) == c) {
                return i;
            }
        }
        return -1;
    }

    /** The last index of the character before {@code to}, or -1. */
    public static int lastIndexOf(CharSequence text, char c, int to) {
        int at = to - 1;
        while (at >= 0 && text.charAt(at) != c) {
            at--;
        }
        return at;
    }

    /** Whether this part of the text is a word. */
    public static boolean is(String word, CharSequence text, int from, int to) {
        int at = 0;
        while (at < word.length() && from + at < to && text.charAt(from + at) == word.charAt(at)) {
            at++;
        }
        return at == word.length() && from + at == to;
    }
}
