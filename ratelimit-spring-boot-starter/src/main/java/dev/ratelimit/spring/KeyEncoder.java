package dev.ratelimit.spring;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.Normalizer;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Puts the parts of a key together so that different parts make different keys, whatever is in them: each is written as
 * its kind, its length and its value. What would be longer than 64 bytes is replaced by its SHA-256, which starts with a
 * mark that is no kind. Can be used for one key after another; not thread-safe.
 */
public final class KeyEncoder {

    private static final int MOST_BYTES = 64;
    private static final char HASHED = '#';
    private static final char ADDRESS = 'a';
    private static final char SHARED = '-';

    private final boolean ignoreCase;
    private final int v4Prefix;
    private final int v6Prefix;
    private final StringBuilder key = new StringBuilder(MOST_BYTES);

    /** Keys in which identities are equal that differ in case, or not, and addresses are networks of these prefixes. */
    public KeyEncoder(boolean ignoreCase, int v4Prefix, int v6Prefix) {
        this.ignoreCase = ignoreCase;
        this.v4Prefix = v4Prefix;
        this.v6Prefix = v6Prefix;
    }

    /** Starts a new key. */
    void clear() {
        key.setLength(0);
    }

    /** A value as it is, which no client has chosen. */
    public void append(char kind, String value) {
        key.append(kind).append(value.length()).append(':').append(value);
    }

    /**
     * The name of a user or the like: equal if it looks equal (Unicode NFKC, without blanks at the ends).
     *
     * @return whether it is one, and not nothing or blank
     */
    public boolean appendIdentity(char kind, @Nullable String value) {
        String normal = value == null ? "" : normalize(value);
        if (normal.isEmpty()) {
            return false;
        }
        append(kind, normal);
        return true;
    }

    /** A network, so that all addresses of one client are one. */
    void append(IpAddress address) {
        int start = key.length();
        address.appendTo(key, v4Prefix, v6Prefix);
        int length = key.length() - start;
        key.insert(start, ':').insert(start, digit(length % 10));
        if (length > 9) {
            key.insert(start, digit(length / 10));
        }
        key.insert(start, ADDRESS);
    }

    private static char digit(int number) {
        return (char) ('0' + number);
    }

    /** An address that is none of IP, as the container says. */
    void appendPeer(@Nullable String peer) {
        append(ADDRESS, peer == null ? "" : peer);
    }

    /** What all have in common who have no value of their own. */
    void appendShared() {
        append(SHARED, "");
    }

    private String normalize(String value) {
        String text = isAscii(value) ? value : Normalizer.normalize(value, Normalizer.Form.NFKC);
        text = trim(text);
        return ignoreCase ? fold(text) : text;
    }

    /** In this order what is left is the same for all letters that any language takes for one, dotless and dotted i, too. */
    private static String fold(String text) {
        return text.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT).replace("i\u0307", "i");
    }

    /** Without blanks and control characters at the ends, which no reader would see. */
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

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 127) {
                return false;
            }
        }
        return true;
    }

    /** The key, at most 64 bytes: a string of Latin-1 takes one a character, any other two. */
    @Override
    public String toString() {
        return isShort() ? key.toString() : HASHED + digest(key);
    }

    private boolean isShort() {
        if (key.length() > MOST_BYTES) {
            return false;
        }
        for (int i = MOST_BYTES / 2 < key.length() ? 0 : key.length(); i < key.length(); i++) {
            if (key.charAt(i) > 255) {
                return false;
            }
        }
        return true;
    }

    private static String digest(CharSequence key) {
        try {
            // two bytes a character, so that strings which are not well-formed UTF-16 stay distinct, too
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes(key));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static byte[] bytes(CharSequence key) {
        byte[] bytes = new byte[2 * key.length()];
        for (int i = 0; i < key.length(); i++) {
            bytes[2 * i] = (byte) (key.charAt(i) >> 8);
            bytes[2 * i + 1] = (byte) key.charAt(i);
        }
        return bytes;
    }
}
