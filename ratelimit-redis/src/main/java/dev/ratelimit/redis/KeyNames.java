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
 * The names of keys in Redis: {@code prefix:policy:{digest}:rank}, ASCII, at most 128 bytes for any key.
 *
 * <p>A key appears in the name only as a 128-bit digest, so clients choose no part of it. The braces make the digest the
 * cluster's hash tag: the limits of all policies for the same key share a slot. In policy names every character except
 * letters, digits, dots, hyphens and underscores is escaped, so that a policy name cannot contain a hash tag; a long name
 * is truncated and gets a digest. Thread-safe.
 */
final class KeyNames {

    private static final int MAX_PREFIX = 32;
    private static final int MAX_POLICY = 60;
    private static final int MAX_KNOWN = 1 << 12;
    private static final int MAX_KNOWN_LENGTH = 256;
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private static final BitSet PLAIN = new BitSet();

    static {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"
                .chars()
                .forEach(PLAIN::set);
    }

    private record Named(String policy, String key, String name) {}

    private final String prefix;

    /** The most recent names: a few keys account for most look-ups. */
    private final AtomicReferenceArray<@Nullable Named> known = new AtomicReferenceArray<>(MAX_KNOWN);

    /** Creates names with this prefix. */
    KeyNames(String prefix) {
        if (!prefix.matches("[A-Za-z0-9._:-]{1," + MAX_PREFIX + "}")) {
            throw new IllegalArgumentException("key prefix must be 1 to " + MAX_PREFIX
                    + " letters, digits, dots, hyphens, underscores and colons but was '" + prefix + "'");
        }
        this.prefix = prefix;
        // the first time, the JDK reads files to find it: not in a first decision, which may be on an event loop
        String ignored = digest("");
    }

    /** The name without the limit's rank. */
    String name(String policy, String key) {
        int hash = (31 * policy.hashCode() + key.hashCode()) * 0x9E3779B9;
        int place = hash >>> Integer.numberOfLeadingZeros(MAX_KNOWN - 1);
        Named named = known.getAcquire(place);
        if (named != null && named.key.equals(key) && named.policy.equals(policy)) {
            return named.name;
        }
        String name = prefix + ':' + escaped(policy) + ":{" + digest(key) + "}:";
        if (key.length() <= MAX_KNOWN_LENGTH) {
            known.setRelease(place, new Named(policy, key, name));
        }
        return name;
    }

    /** A name for nobody's key, in a slot that depends on the number; no policy's key has it. */
    String probe(int number) {
        return prefix + ":~probe:{" + number + "}:";
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
        if (escaped.length() <= MAX_POLICY) {
            return escaped.toString();
        }
        return escaped.substring(0, MAX_POLICY - 23) + '~' + digest(policy);
    }

    /** A digest of 22 base64 characters. */
    private static String digest(String text) {
        // the raw UTF-16 units: every charset maps all lone surrogates to the same replacement character
        byte[] bytes = new byte[Character.BYTES * text.length()];
        ByteBuffer.wrap(bytes).asCharBuffer().put(text);
        byte[] hash = sha256().digest(bytes);
        return BASE64.encodeToString(Arrays.copyOf(hash, 16));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
