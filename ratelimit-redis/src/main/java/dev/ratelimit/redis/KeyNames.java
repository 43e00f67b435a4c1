package dev.ratelimit.redis;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The names of keys in Redis: {@code prefix:policy:{digest}:limit}, ASCII, at most 128 bytes whatever the key is.
 *
 * <p>Nothing of a key that a client chose is in its name but a digest of 128 bits. The braces make it what a cluster
 * places keys by, so that the limits of all policies for the same key lie in one slot. In a policy's name, what is no
 * letter, digit, dot, hyphen or underscore is escaped, so that it has no say in that; a long one is cut and gets a digest.
 * Thread-safe.
 */
final class KeyNames {

    private static final int MOST_PREFIX = 32;
    private static final int MOST_POLICY = 60;
    private static final int MOST_KNOWN = 1 << 10;
    private static final int LONGEST_KNOWN = 256;
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private static final BitSet PLAIN = new BitSet();

    static {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"
                .chars()
                .forEach(PLAIN::set);
    }

    private record Named(String policy, String key, String name) {}

    private final String prefix;

    /** The names asked for last, since the same few keys make up most of what is asked for. */
    private final AtomicReferenceArray<@Nullable Named> known = new AtomicReferenceArray<>(MOST_KNOWN);

    /** Names that begin so. */
    KeyNames(String prefix) {
        if (!prefix.matches("[A-Za-z0-9._:-]{1," + MOST_PREFIX + "}")) {
            throw new IllegalArgumentException("key prefix must be 1 to " + MOST_PREFIX
                    + " letters, digits, dots, hyphens, underscores and colons but was '" + prefix + "'");
        }
        this.prefix = prefix;
    }

    /** The name without the limit's number. */
    String name(String policy, String key) {
        int hash = (31 * policy.hashCode() + key.hashCode()) * 0x9E3779B9;
        int place = hash >>> Integer.numberOfLeadingZeros(MOST_KNOWN - 1);
        Named named = known.getAcquire(place);
        if (named != null && named.key.equals(key) && named.policy.equals(policy)) {
            return named.name;
        }
        String name = prefix + ':' + escaped(policy) + ":{" + digest(key) + "}:";
        if (key.length() <= LONGEST_KNOWN) {
            known.setRelease(place, new Named(policy, key, name));
        }
        return name;
    }

    private static String escaped(String policy) {
        StringBuilder escaped = new StringBuilder(policy.length());
        for (int i = 0; i < policy.length(); i++) {
            char c = policy.charAt(i);
            if (PLAIN.get(c)) {
                escaped.append(c);
            } else {
                escaped.append('%').append(Integer.toHexString(c));
            }
        }
        if (escaped.length() <= MOST_POLICY) {
            return escaped.toString();
        }
        return escaped.substring(0, MOST_POLICY - 23) + '~' + digest(policy);
    }

    /** 22 characters of base64. */
    private static String digest(String text) {
        // as it is: in any charset, all lone surrogates are one replacement character
        byte[] bytes = new byte[Character.BYTES * text.length()];
        ByteBuffer.wrap(bytes).asCharBuffer().put(text);
        byte[] hash = sha256().digest(bytes);
        return BASE64.encodeToString(Arrays.copyOf(hash, 16));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
