package dev.ratelimit.spring.rules.request;

import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.text.NormalText;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Joins the parts of a key so that different parts make different keys, whatever their content: each is written as its
 * kind, its length and its value. A key longer than 64 bytes is replaced by its SHA-256, which starts with a mark that
 * is not a kind. Can be reused for one key after another; not thread-safe.
 */
public final class KeyEncoder {

    private static final int MAX_BYTES = 64;

    /** The characters of an IPv6 network of 64 bits; others are shorter or unusual. */
    private static final int CHARS_PER_ADDRESS = 24;

    public static final char HASHED = '#';
    public static final char ADDRESS = 'a';
    public static final char SHARED = '-';

    private final boolean ignoreCase;
    private final int v4Prefix;
    private final int v6Prefix;

    /** Not a builder, which almost always would be copied after one value. */
    private String key = "";

    /** Encodes identities with or without regard to case, and addresses as networks of these prefixes. */
    public KeyEncoder(boolean ignoreCase, int v4Prefix, int v6Prefix) {
        this.ignoreCase = ignoreCase;
        this.v4Prefix = v4Prefix;
        this.v6Prefix = v6Prefix;
    }

    /** Starts a new key. */
    void clear() {
        key = "";
    }

    /** Appends a value unchanged; for values that no client chooses. */
    public void append(char kind, String value) {
        key = key + kind + value.length() + ':' + value;
    }

    /**
     * Appends the name of a user or the like. Names that look equal are equal.
     *
     * @return whether there is a name that is not blank
     */
    public boolean appendIdentity(char kind, @Nullable String value) {
        String normal = value == null ? "" : NormalText.of(value, ignoreCase);
        if (normal.isEmpty()) {
            return false;
        }
        append(kind, normal);
        return true;
    }

    /** Appends the network of an address, so that all addresses of one client are the same. */
    public void append(IpAddress address) {
        StringBuilder network = new StringBuilder(CHARS_PER_ADDRESS);
        address.appendTo(network, v4Prefix, v6Prefix);
        append(ADDRESS, network.toString());
    }

    /** Appends an address that is not an IP address, as the container reports it. */
    void appendOpaqueAddress(@Nullable String peer) {
        append(ADDRESS, peer == null ? "" : peer);
    }

    /** Appends the marker that all requests without a value of their own share. */
    public void appendShared() {
        append(SHARED, "");
    }

    /** The key, at most 64 bytes: in a Latin-1 string one byte per character, otherwise two. */
    @Override
    public String toString() {
        return isShort() ? key : HASHED + digest(key);
    }

    private boolean isShort() {
        if (key.length() > MAX_BYTES) {
            return false;
        }
        for (int i = MAX_BYTES / 2 < key.length() ? 0 : key.length(); i < key.length(); i++) {
            if (key.charAt(i) > 255) {
                return false;
            }
        }
        return true;
    }

    static String digest(CharSequence key) {
        try {
            // two bytes per character, so that strings that are not well-formed UTF-16 stay distinct
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes(key));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
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
