package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * What an operator knows of a caller. Immutable.
 *
 * @param user the name of the principal; {@code null} if it is not known, as the others
 * @param address the client's address
 * @param headers lines such as {@code X-Api-Key: a}, each with a name
 * @param key the value of a part of the key that neither of them tells, such as a claim or what a bean says, written as in
 *     lists of keys
 */
public record Caller(
        @Nullable String user,
        @Nullable String address,
        List<String> headers,
        @Nullable String key) {

    /**
     * Validates the address and the headers, and that something is known.
     *
     * @throws IllegalArgumentException if nothing is known, a value is blank, the address is none, or a header has no name
     */
    public Caller {
        headers = List.copyOf(headers);
        for (String line : headers) {
            if (line.indexOf(':') < 1) {
                throw new IllegalArgumentException(
                        "a header needs a name and a value, but was " + Quotation.of(line) + "; write X-Api-Key: a");
            }
        }
        if (user == null && address == null && headers.isEmpty() && key == null) {
            throw new IllegalArgumentException(
                    "caller needs to know who calls; write caller?user=alice,"
                            + " caller?address=203.0.113.7, caller?header=X-Api-Key:a, or caller?key=a for a key of another kind");
        }
        checkNotBlank("user", user);
        checkNotBlank("key", key);
        if (address != null) {
            IpAddress unused = PlainKey.address(address);
        }
    }

    private static void checkNotBlank(String name, @Nullable String value) {
        if (value != null && value.isBlank()) {
            throw new IllegalArgumentException(name + " must not be blank; write a value, or leave it out");
        }
    }

    /** The value of a part, as in the plain key of a policy; {@code null} if it is not known. */
    @Nullable
    String valueOf(KeyPart part, MissingKey missing) {
        String own = valueOf(part);
        return own == null && address != null && isReplacedByAddress(part, missing) ? PlainKey.fallback(address) : own;
    }

    /** Whether the address would stand for the value of this part, which is not known. */
    boolean isReplacedByAddress(KeyPart part, MissingKey missing) {
        boolean replaced = part.kind() == KeyKind.USER
                || (missing == MissingKey.IP && !part.kind().isNeverMissing());
        return replaced && !part.kind().isOfTarget() && valueOf(part) == null;
    }

    private @Nullable String valueOf(KeyPart part) {
        return switch (part.kind()) {
            case IP -> address;
            case USER, PRINCIPAL -> user == null ? keyOf(part) : PlainKey.literal(part, user);
            case HEADER, COOKIE -> {
                List<String> sent = sent(part);
                // a request with several values has none
                yield sent.isEmpty() ? key : sent.size() == 1 ? PlainKey.literal(part, sent.get(0)) : null;
            }
            case ENDPOINT, ROUTE, METHOD -> null;
            default -> key;
        };
    }

    /** The key as the value of this part: whoever asks for an address does not know which policies have users. */
    private @Nullable String keyOf(KeyPart part) {
        return key != null && AddressRange.isAddress(key) ? PlainKey.literal(part, key) : key;
    }

    /** The values that the headers have for a part. */
    List<String> sent(KeyPart part) {
        return switch (part.kind()) {
            case HEADER -> valuesOf(String.valueOf(part.header()), headers.stream(), ":");
            case COOKIE ->
                valuesOf(
                        String.valueOf(part.cookie()),
                        valuesOf(HttpHeaders.COOKIE, headers.stream(), ":").stream()
                                .flatMap(line -> Stream.of(line.split(";", -1))),
                        "=");
            default -> List.of();
        };
    }

    /** Of names and values with this sign between them. Names of cookies have a case. */
    private static List<String> valuesOf(String name, Stream<String> pairs, String sign) {
        return pairs.map(pair -> pair.split(sign, 2))
                .filter(pair -> pair.length == 2)
                .filter(pair -> sign.equals("=")
                        ? pair[0].strip().equals(name)
                        : pair[0].strip().equalsIgnoreCase(name))
                .map(pair -> pair[1].strip())
                .toList();
    }

    /** How to say in a question what a part of a key is. */
    static String askFor(KeyPart part) {
        return switch (part.kind()) {
            case IP -> "address=203.0.113.7";
            case USER, PRINCIPAL -> "user=alice";
            case HEADER -> "header=" + part.header() + ":a";
            case COOKIE -> "header=Cookie:" + part.cookie() + "=a";
            default -> "key=a";
        };
    }
}
