package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose limits an override replaces: those of the keys with a value in the one part that identifies the caller. Immutable.
 *
 * @param subject that part
 * @param value as people write it; two spellings of the same key have the same
 * @param encoded as in the keys of requests
 * @param network the addresses, if the part is the client's address; {@code null} otherwise
 */
public record OverrideKey(
        KeyPart subject,
        String value,
        String encoded,
        @Nullable AddressRange network) {

    /**
     * Reads a value.
     *
     * @param encoder a new one
     * @throws IllegalArgumentException if the key has no such part, or several, or the part cannot have the value
     */
    public static OverrideKey of(BudgetKey key, KeyEncoder encoder, String value) {
        List<KeyPart> subjects =
                key.parts().stream().filter(part -> !part.kind().isOfTarget()).toList();
        if (subjects.size() != 1) {
            throw new IllegalArgumentException(
                    "overrides need a key with exactly one part besides endpoint, route and method, but the key is "
                            + key);
        }
        KeyPart subject = subjects.get(0);
        if (subject.kind() == KeyKind.IP) {
            AddressRange network = AddressRange.parse(value);
            return new OverrideKey(subject, network.toString(), network.toString(), network);
        }
        if (!subject.appendTo(encoder, value)) {
            throw new IllegalArgumentException(Quotation.of(value) + " is blank; write a value");
        }
        String encoded = encoder.toString();
        boolean hashed = encoded.charAt(0) == KeyEncoder.HASHED;
        return new OverrideKey(
                subject, hashed ? value.strip() : encoded.substring(encoded.indexOf(':') + 1), encoded, null);
    }
}
