package dev.ratelimit.spring;

/** Tokens of HTTP (RFC 9110, section 5.6.2), such as the names of headers. */
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
}
