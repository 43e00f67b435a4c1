package dev.ratelimit.simulator.replay;

import dev.ratelimit.simulator.text.PrintableText;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.rule.Rule;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/** Shows keys to readers: values that may be credentials as hashes, unless they are to be shown. */
public final class KeyText {

    /** All others may be credentials. */
    private static final Set<KeyKind> SHOWN = EnumSet.of(
            KeyKind.USER,
            KeyKind.PRINCIPAL,
            KeyKind.IP,
            KeyKind.ENDPOINT,
            KeyKind.ROUTE,
            KeyKind.METHOD,
            KeyKind.PATH,
            KeyKind.CLAIM);

    private final RulesInForce rules;
    private final boolean all;

    /**
     * Creates a text for the keys of these rules.
     *
     * @param all whether values that may be credentials are shown, too
     */
    public KeyText(RulesInForce rules, boolean all) {
        this.rules = rules;
        this.all = all;
    }

    /** The values of a key, printable, separated by spaces; empty if all share one budget. */
    public String of(String policy, String key) {
        Rule rule = rules.byPolicy().get(policy);
        if (key.isEmpty() || rule == null || rule.key().parts().isEmpty()) {
            return PrintableText.of(key);
        }
        List<String> values = PlainKey.valuesOf(rule, key);
        if (values == null) {
            return hash(key);
        }
        List<KeyPart> parts = rule.key().parts();
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            boolean secret = !all
                    && !SHOWN.contains(parts.get(i).kind())
                    && !values.get(i).startsWith("ip:");
            shown.add(secret ? hash(values.get(i)) : PrintableText.of(values.get(i)));
        }
        return String.join(" ", shown);
    }

    private static String hash(String value) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8));
            return "#" + HexFormat.of().formatHex(hash, 0, 4);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
