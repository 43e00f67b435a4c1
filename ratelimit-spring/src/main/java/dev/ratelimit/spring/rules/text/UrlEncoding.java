package dev.ratelimit.spring.rules.text;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Texts as words of visible ASCII characters without spaces, as in the names of what instances share. */
public final class UrlEncoding {

    private UrlEncoding() {}

    /** The text as one word. */
    public static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /**
     * The text of a word.
     *
     * @throws IllegalArgumentException if it cannot be one
     */
    public static String decoded(String word) {
        return URLDecoder.decode(word, StandardCharsets.UTF_8);
    }
}
