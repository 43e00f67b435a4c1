package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
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
        KeyPart subject = subjectOf(key);
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

    /**
     * Reads a value that is written as in a {@link PlainKey}, so that it may also be a caller without a value, such as
     * {@code ip:192.0.2.7} under a key by user.
     *
     * @throws IllegalArgumentException likewise, or if no request has such a key
     */
    public static OverrideKey ofPlain(BudgetKey key, RequestContext.Sources sources, String written) {
        KeyPart subject = subjectOf(key);
        // as blanks around a name do not count
        String value = written.isBlank() ? written : written.strip();
        if (subject.kind() == KeyKind.IP) {
            return of(key, sources.keys().get(), PlainKey.withoutPrefix(value));
        }
        String encoded = PlainKey.part(subject, sources, value);
        String shown = PlainKey.valueOf(subject.kind(), encoded);
        if (encoded.charAt(0) == KeyEncoder.ADDRESS) {
            check(subject.kind() == KeyKind.USER || key.missing() == MissingKey.IP, key, value);
            if (value.indexOf('/') >= 0 && !value.equals(shown)) {
                throw new IllegalArgumentException(
                        Quotation.of(value) + " is a network; write the address of one caller, such as " + shown);
            }
        } else if (encoded.charAt(0) == KeyEncoder.SHARED) {
            check(subject.kind() != KeyKind.USER && key.missing() == MissingKey.SHARED, key, value);
        }
        return new OverrideKey(subject, shown == null ? value.strip() : shown, encoded, null);
    }

    private static void check(boolean possible, BudgetKey key, String value) {
        if (!possible) {
            throw new IllegalArgumentException(Quotation.of(value) + " is no key of a policy " + key
                    + ", where requests without a value are not charged like this; write a backslash before it if it is"
                    + " the value of a request");
        }
    }

    private static KeyPart subjectOf(BudgetKey key) {
        List<KeyPart> subjects =
                key.parts().stream().filter(part -> !part.kind().isOfTarget()).toList();
        if (subjects.size() != 1) {
            throw new IllegalArgumentException(
                    "overrides need a key with exactly one part besides endpoint, route and method, but the key is "
                            + key);
        }
        return subjects.get(0);
    }
}
