package dev.ratelimit.spring.config;

import dev.ratelimit.spring.AddressRange;
import dev.ratelimit.spring.Allowance;
import dev.ratelimit.spring.Allowances;
import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.KeyEncoder;
import dev.ratelimit.spring.KeyPart;
import dev.ratelimit.spring.RuleKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Collects who may have other than the policy's own limits. Not thread-safe. */
final class AllowanceParser {

    private final RuleKey key;
    private final boolean ignoreCase;
    private final Map<String, Allowance> byKey = new HashMap<>();
    private final List<Allowances.Network> networks = new ArrayList<>();
    private final Map<String, Allowance> plans = new HashMap<>();
    private Function<Call, @Nullable String> plan = call -> null;

    AllowanceParser(RuleKey key, boolean ignoreCase) {
        this.key = key;
        this.ignoreCase = ignoreCase;
    }

    /** Whoever has this value in one of the key's parts; where no part can have it, nobody. */
    void exempt(String value) {
        if (key.parts().contains(KeyParts.IP) && isAddress(value)) {
            networks.add(new Allowances.Network(AddressRange.parse(value), Allowance.Fixed.EXEMPT));
        }
        for (KeyPart part : key.parts()) {
            String encoded = encode(part, value);
            if (encoded != null) {
                byKey.put(encoded, Allowance.Fixed.EXEMPT);
            }
        }
    }

    /**
     * Whoever has this value in that part of the key which tells callers apart.
     *
     * @throws IllegalArgumentException when there is no such part, or several, or the value is none of it
     */
    void override(String value, Allowance allowance) {
        List<KeyPart> subjects = key.parts().stream()
                .filter(part -> part != KeyParts.ENDPOINT && part != KeyParts.METHOD)
                .toList();
        if (subjects.size() != 1) {
            throw new IllegalArgumentException(
                    "overrides need a key of one part besides endpoint and method, and this one is " + key);
        }
        if (subjects.get(0) == KeyParts.IP) {
            networks.add(new Allowances.Network(range(value), allowance));
            return;
        }
        String encoded = encode(subjects.get(0), value);
        if (encoded == null || byKey.put(encoded, allowance) != null) {
            throw new IllegalArgumentException(
                    "'" + value + "' is " + (encoded == null ? "blank" : "there twice, in another spelling"));
        }
    }

    private static AddressRange range(String value) {
        try {
            return AddressRange.parse(value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    e.getMessage() + "; in YAML, write a network in brackets: \"[10.0.0.0/8]\"", e);
        }
    }

    private static boolean isAddress(String value) {
        try {
            AddressRange.parse(value);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private @Nullable String encode(KeyPart part, String value) {
        KeyEncoder encoder = new KeyEncoder(ignoreCase, 32, 128);
        return part.appendTo(encoder, value) ? encoder.toString() : null;
    }

    /** Whoever is on this plan. */
    void plan(String name, Allowance allowance) {
        plans.put(name, allowance);
    }

    /** Says who is on which plan. */
    void resolvePlansBy(Function<Call, @Nullable String> resolver) {
        plan = resolver;
    }

    Allowances parse(Allowance otherwise) {
        return new Allowances(key.parts(), byKey, networks, plan, plans, otherwise);
    }
}
