package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Recognizes keys and values of keys that are valid but probably not intended. */
final class UnintendedKeys {

    /** Clients write what they like into these, and proxies append to it. */
    private static final Set<String> FORGEABLE = Set.of("header:x-forwarded-for", "header:forwarded");

    private UnintendedKeys() {}

    /**
     * What is probably not intended about a rule's key, as sentences.
     *
     * @param overrides the values of the key that have other limits
     */
    static Stream<String> of(Rule rule, Collection<String> overrides) {
        String name = "Rate limit '" + rule.policy().name() + "'";
        return Stream.of(missing(name, rule.key()), forgeable(name, rule.key()), addresses(name, rule.key(), overrides))
                .flatMap(sentences -> sentences);
    }

    private static Stream<String> missing(String name, BudgetKey key) {
        if (key.missing() == MissingKey.IP
                || !key.parts().stream().allMatch(part -> part.kind().isNeverMissing())) {
            return Stream.of();
        }
        String effect = "missing-key: " + PropertyName.of(key.missing()) + " has no effect";
        return Stream.of(
                key.parts().isEmpty()
                        ? name + " has no key, so " + effect + ". Write a key, or remove missing-key"
                        : name + " is " + key + ", which no request lacks, so " + effect
                                + (key.parts().stream().anyMatch(part -> part.kind() == KeyKind.USER)
                                        ? ". Write principal in place of user to apply it to anonymous callers"
                                        : ". Remove it"));
    }

    private static Stream<String> forgeable(String name, BudgetKey key) {
        return key.parts().stream()
                .map(KeyPart::toString)
                .filter(FORGEABLE::contains)
                .map(part -> name + " is by " + part + ", which clients can write as they like. Write ip instead, and"
                        + " name your proxies in ratelimit.trusted-proxies");
    }

    private static Stream<String> addresses(String name, BudgetKey key, Collection<String> overrides) {
        List<KeyPart> users = key.parts().stream().filter(KeyPart::isUser).toList();
        return overrides.stream()
                .filter(value -> !users.isEmpty() && AddressRange.isAddress(value))
                .map(value -> name + " has an override for " + Quotation.of(value) + ", but it is " + key
                        + ", so this is the name of a user and not an address");
    }

    /** The values that occur in no key of these rules. */
    static List<String> never(List<String> values, List<Rule> rules) {
        return values.stream()
                .filter(value -> rules.stream()
                        .flatMap(rule -> rule.key().parts().stream())
                        .noneMatch(part -> mayBe(part, value)))
                .toList();
    }

    private static boolean mayBe(KeyPart part, String value) {
        if (part.kind() == KeyKind.IP) {
            return AddressRange.isAddress(value);
        }
        return part.isUser() ? !AddressRange.isAddress(value) : part.appendTo(new KeyEncoder(false, 32, 128), value);
    }

    /** The parts of these rules' keys, for messages. */
    static String partsOf(List<Rule> rules) {
        String parts = rules.stream()
                .flatMap(rule -> rule.key().parts().stream())
                .map(KeyPart::toString)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        return parts.isEmpty() ? "no policy has a key" : "all keys are of " + parts;
    }
}
