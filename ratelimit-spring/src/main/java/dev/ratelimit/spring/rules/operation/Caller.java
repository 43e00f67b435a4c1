package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.key.BudgetKey;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.rule.PlainKey;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.Locale;
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

    /** Whether it has a value for a part of this key. */
    boolean isKnownTo(BudgetKey budget) {
        return budget.parts().stream().anyMatch(part -> valueOf(part, budget.missing()) != null);
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
            case HEADER -> only(part, linesOf(String.valueOf(part.header())).toList());
            case COOKIE -> only(part, cookies(String.valueOf(part.cookie())));
            case ENDPOINT, ROUTE, METHOD -> null;
            default -> key;
        };
    }

    /** The key as the value of this part: whoever asks for an address does not know which policies have users. */
    private @Nullable String keyOf(KeyPart part) {
        return key != null && AddressRange.isAddress(key) ? PlainKey.literal(part, key) : key;
    }

    /** A request with several values has none. */
    private @Nullable String only(KeyPart part, List<String> values) {
        return values.isEmpty() ? key : values.size() == 1 ? PlainKey.literal(part, values.get(0)) : null;
    }

    /** Whether the part has several values, so that a request with them has none. */
    boolean hasSeveral(KeyPart part) {
        return switch (part.kind()) {
            case HEADER -> linesOf(String.valueOf(part.header())).count() > 1;
            case COOKIE -> cookies(String.valueOf(part.cookie())).size() > 1;
            default -> false;
        };
    }

    private Stream<String> linesOf(String header) {
        return headers.stream()
                .filter(line -> nameOf(line).equals(header.toLowerCase(Locale.ROOT)))
                .map(line -> line.substring(line.indexOf(':') + 1).strip());
    }

    private static String nameOf(String line) {
        return line.substring(0, line.indexOf(':')).strip().toLowerCase(Locale.ROOT);
    }

    private List<String> cookies(String name) {
        return linesOf(HttpHeaders.COOKIE)
                .flatMap(line -> Stream.of(line.split(";", -1)))
                .map(String::strip)
                .filter(cookie -> cookie.indexOf('=') > 0
                        && cookie.substring(0, cookie.indexOf('=')).strip().equals(name))
                .map(cookie -> cookie.substring(cookie.indexOf('=') + 1).strip())
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
