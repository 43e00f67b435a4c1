package dev.ratelimit.spring;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * Puts the parts of a key together so that different parts make different keys, whatever is in them: each is written as
 * its kind, its length and its value. What would be longer than 64 bytes is replaced by its SHA-256, which starts with a
 * mark that is no kind. Not thread-safe.
 */
final class KeyEncoder {

    private static final int MOST_BYTES = 64;
    private static final char HASHED = '#';

    private final StringBuilder key = new StringBuilder(MOST_BYTES);

    void append(char kind, String value) {
        key.append(kind).append(value.length()).append(':').append(value);
    }

    /** The key, at most 64 bytes: a string of Latin-1 takes one a character, any other two. */
    @Override
    public String toString() {
        int most = key.chars().allMatch(c -> c < 256) ? MOST_BYTES : MOST_BYTES / 2;
        return key.length() <= most ? key.toString() : HASHED + digest(key.toString());
    }

    private static String digest(String key) {
        try {
            // two bytes a character, so that strings which are not well-formed UTF-16 stay distinct, too
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes(key));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static byte[] bytes(String key) {
        byte[] bytes = new byte[2 * key.length()];
        for (int i = 0; i < key.length(); i++) {
            bytes[2 * i] = (byte) (key.charAt(i) >> 8);
            bytes[2 * i + 1] = (byte) key.charAt(i);
        }
        return bytes;
    }
}
