package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.Resolver;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.LimitOverrides;
import dev.ratelimit.spring.rules.rule.OverrideKey;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects overrides of the policy's own limits. Not thread-safe. */
final class LimitOverrideParser {

    private final BudgetKey key;
    private final boolean ignoreCase;
    private final Map<String, LimitOverride> byKey = new HashMap<>();
    private final List<LimitOverrides.Network> networks = new ArrayList<>();
    private final Map<String, LimitOverride> plans = new HashMap<>();
    private @Nullable Resolver plan;

    LimitOverrideParser(BudgetKey key, boolean ignoreCase) {
        this.key = key;
        this.ignoreCase = ignoreCase;
    }

    /** Exempts keys with this value in one of their parts. Has no effect if no part can have the value. */
    void exempt(String value) {
        if (key.parts().stream().anyMatch(part -> part.kind() == KeyKind.IP) && AddressRange.isAddress(value)) {
            networks.add(new LimitOverrides.Network(AddressRange.parse(value), LimitOverride.Fixed.EXEMPT));
        }
        for (KeyPart part : key.parts()) {
            String encoded = encode(part, value);
            if (encoded != null) {
                byKey.put(encoded, LimitOverride.Fixed.EXEMPT);
            }
        }
    }

    /**
     * Overrides the limits of keys with this value in the part that identifies the caller.
     *
     * @throws IllegalArgumentException if there is no such part, or several, or the part cannot have the value
     */
    void override(String value, LimitOverride override) {
        OverrideKey subject = subject(value);
        AddressRange network = subject.network();
        if (network != null) {
            overrideNetwork(value, network, override);
        } else if (byKey.put(subject.encoded(), override) != null) {
            throw isWrittenTwice(value);
        }
    }

    private OverrideKey subject(String value) {
        try {
            return OverrideKey.of(key, encoder(), value);
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            boolean ofAddress = key.parts().stream().anyMatch(part -> part.kind() == KeyKind.IP);
            throw new IllegalArgumentException(
                    message.startsWith("overrides need")
                            ? message + "; change the key or remove the overrides"
                            : ofAddress
                                    ? message + "; in YAML, write a network in brackets: \"[10.0.0.0/8]\""
                                    : message,
                    e);
        }
    }

    private void overrideNetwork(String value, AddressRange range, LimitOverride override) {
        boolean known = networks.stream()
                .anyMatch(network -> network.override() != LimitOverride.Fixed.EXEMPT
                        && network.range().equals(range));
        if (known) {
            throw isWrittenTwice(value);
        }
        networks.add(new LimitOverrides.Network(range, override));
    }

    private static IllegalArgumentException isWrittenTwice(String value) {
        return new IllegalArgumentException(Quotation.of(value) + " is written twice, in two spellings; write it once");
    }

    private KeyEncoder encoder() {
        return new KeyEncoder(ignoreCase, 32, 128);
    }

    private @Nullable String encode(KeyPart part, String value) {
        KeyEncoder encoder = encoder();
        return part.appendTo(encoder, value) ? encoder.toString() : null;
    }

    /** Sets the limits of a plan. */
    void plan(String name, LimitOverride override) {
        plans.put(name, override);
    }

    /** Sets the resolver of plans. */
    void resolvePlansBy(Resolver resolver) {
        plan = resolver;
    }

    LimitOverrides parse(LimitOverride otherwise) {
        return new LimitOverrides(key.parts(), byKey, networks, plan, plans, otherwise);
    }
}
