package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Shows keys to operators: as their plain values or, to those who may not see them, as hashes. The hashes are of use
 * only to compare keys: a secret, new at each start, keeps addresses and names from being guessed. Thread-safe.
 */
public final class KeyDisplay {

    private static final String ALGORITHM = "HmacSHA256";
    private static final int SHOWN_BYTES = 6;

    private final SecretKeySpec secret;

    /** Draws the secret. */
    public KeyDisplay() {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        this.secret = new SecretKeySpec(random, ALGORITHM);
    }

    /** The hash of a key, such as {@code #5f3a09c1d27e}. */
    public String hash(String key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            byte[] hash = mac.doFinal(key.getBytes(StandardCharsets.UTF_8));
            return "#" + HexFormat.of().formatHex(hash, 0, SHOWN_BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(ALGORITHM + " is not available", e);
        }
    }

    /** The key as a list of plain values, or of its hash; {@code rule} is {@code null} if there is no such policy any more. */
    public List<String> list(@Nullable Rule rule, String key, boolean plain) {
        List<String> values = plain && rule != null ? PlainKey.valuesOf(rule, key) : null;
        return values == null ? List.of(hash(key)) : values;
    }

    /** The key as a list of plain values, or its hash if the key may not be shown or is kept as a hash itself. */
    Object show(Rule rule, String key, boolean plain) {
        List<String> values = plain ? PlainKey.valuesOf(rule, key) : null;
        return values == null ? hash(key) : values;
    }
}
