package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.IpAddress;
import dev.ratelimit.spring.rules.key.KeyKind;
import dev.ratelimit.spring.rules.key.KeyPart;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A key written as the plain values of its parts, as people write and read it. Immutable.
 *
 * <p>{@code ip:} and an address stand for a caller without a value, and {@code -} for all such callers. A value that a client
 * has sent may look like them, so it is written with a backslash before it, as is one that begins with a backslash, and a
 * user whose name is an address.
 *
 * @param key as requests with these values are charged to
 * @param parts each part on its own, as overrides are found
 * @param address the client's address, if it is a part of the key
 */
public record PlainKey(
        String key, List<String> parts, @Nullable IpAddress address) {

    /** The address of a caller without a value for a part. */
    private static final String ADDRESS = "ip:";

    /** Stands for all callers without a value for a part. */
    private static final String SHARED = "-";

    /** What reports show in place of a key that may not be shown. */
    private static final Pattern HASH = Pattern.compile("#[0-9a-f]{12}");

    /** How long a part of a key is. */
    private static final Pattern LENGTH = Pattern.compile("\\d{1,4}");

    /** Before a value that would otherwise be read as something else. */
    private static final String LITERAL = "\\";

    /**
     * Encodes a key.
     *
     * @throws IllegalArgumentException if the key has other parts than this
     */
    public static PlainKey of(Rule rule, RequestContext.Sources sources, List<String> values) {
        List<KeyPart> parts = rule.key().parts();
        if (values.size() != parts.size()) {
            throw new IllegalArgumentException("the key of policy "
                    + Quotation.of(rule.policy().name()) + " has "
                    + (parts.isEmpty()
                            ? "no parts"
                            : parts.size() + (parts.size() == 1 ? " part: " : " parts: ") + parts)
                    + ", but there " + (values.size() == 1 ? "is 1 value" : "are " + values.size() + " values")
                    + "; write one value for each part");
        }
        KeyEncoder whole = sources.keys().get();
        List<String> encoded = new ArrayList<>();
        IpAddress address = null;
        for (int i = 0; i < parts.size(); i++) {
            KeyEncoder own = sources.keys().get();
            IpAddress ofPart = append(parts.get(i), values.get(i), own);
            append(parts.get(i), values.get(i), whole);
            encoded.add(own.toString());
            address = ofPart == null ? address : ofPart;
        }
        return new PlainKey(whole.toString(), encoded, address);
    }

    /**
     * Encodes one part of a key.
     *
     * @throws IllegalArgumentException if it cannot have this value
     */
    public static String part(KeyPart part, RequestContext.Sources sources, String value) {
        KeyEncoder own = sources.keys().get();
        IpAddress unused = append(part, value, own);
        return own.toString();
    }

    /** A key that a request was charged to; {@code null} if it is too long to be kept with its parts. */
    public static @Nullable PlainKey ofCharged(String key) {
        List<String> parts = partsOf(key);
        if (parts == null) {
            return null;
        }
        for (String part : parts) {
            if (part.charAt(0) == KeyEncoder.ADDRESS) {
                String network = part.substring(part.indexOf(':') + 1);
                IpAddress address = new IpAddress();
                boolean known = address.readBare(network.split("/", 2)[0]);
                return new PlainKey(key, parts, known ? address : null);
            }
        }
        return new PlainKey(key, parts, null);
    }

    /** The encoded parts of a key; {@code null} if it is too long to be kept with them. */
    private static @Nullable List<String> partsOf(String key) {
        List<String> parts = new ArrayList<>();
        int at = 0;
        while (at < key.length()) {
            int colon = key.indexOf(':', at);
            if (key.charAt(at) == KeyEncoder.HASHED || colon < 0) {
                return null;
            }
            int end = colon + 1 + lengthOf(key.substring(at + 1, colon));
            if (end <= colon || end > key.length()) {
                return null;
            }
            parts.add(key.substring(at, end));
            at = end;
        }
        return parts;
    }

    /** A key may also come from another instance, through a store; -1 if it is none. */
    private static int lengthOf(String number) {
        return LENGTH.matcher(number).matches() ? Integer.parseInt(number) : -1;
    }

    private static @Nullable IpAddress append(KeyPart part, String value, KeyEncoder to) {
        boolean ip = part.kind() == KeyKind.IP;
        if (HASH.matcher(value).matches()) {
            throw new IllegalArgumentException(Quotation.of(value)
                    + " stands for a key that is not shown; write the key, or a backslash before it if it is the value of"
                    + " a request");
        }
        if (ip || isAddress(value)) {
            return appendAddress(withoutPrefix(value), to);
        }
        String own = value.startsWith(LITERAL) ? value.substring(1) : value;
        if (part.isUser() && AddressRange.isAddress(value)) {
            throw new IllegalArgumentException(Quotation.of(value) + " is the name of a user; write ip:" + value
                    + " for the caller without a name, or a backslash before it if a user has this name");
        }
        if (value.equals(SHARED)) {
            to.appendShared();
        } else if (part.kind().isOfTarget()) {
            to.append(part.kind().letter(), own);
        } else if (!part.appendTo(to, own)) {
            throw new IllegalArgumentException("the value of " + part + " is blank; write a value");
        }
        return null;
    }

    /** How a value of this part that a client has sent is written as a plain one, whatever it looks like. */
    public static String literal(KeyPart part, String value) {
        return literal(part.kind(), value);
    }

    private static String literal(KeyKind kind, String value) {
        boolean ambiguous = isAddress(value)
                || HASH.matcher(value).matches()
                || value.equals(SHARED)
                || value.startsWith(LITERAL)
                || (kind.isUser() && AddressRange.isAddress(value));
        return ambiguous ? LITERAL + value : value;
    }

    /** How the address of a caller without a value is written. */
    public static String fallback(String address) {
        return ADDRESS + address;
    }

    private static boolean isAddress(String value) {
        return value.regionMatches(true, 0, ADDRESS, 0, ADDRESS.length());
    }

    /** The address of a value that may begin with {@code ip:}. */
    static String withoutPrefix(String value) {
        return isAddress(value) ? value.substring(ADDRESS.length()) : value;
    }

    /** A network is as good as an address of it if it has a budget of its own, as those of IPv6 have. */
    private static IpAddress appendAddress(String value, KeyEncoder to) {
        int slash = value.indexOf('/');
        IpAddress address = address(slash < 0 ? value : value.substring(0, slash));
        to.append(address);
        if (slash >= 0 && !to.toString().endsWith(":" + AddressRange.parse(value))) {
            throw new IllegalArgumentException(
                    Quotation.of(value) + " is a network, of which each caller has a budget of"
                            + " its own; write the address of one caller");
        }
        return address;
    }

    /**
     * Reads an address.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static IpAddress address(String value) {
        IpAddress address = new IpAddress();
        if (!address.readBare(value)) {
            throw new IllegalArgumentException(
                    Quotation.of(value) + " is not an address; write 10.0.0.7 or 2001:db8::1");
        }
        return address;
    }

    /** The plain values of a key that a request was charged to; {@code null} if it is too long to be kept as such. */
    public static @Nullable List<String> valuesOf(Rule rule, String key) {
        return valuesOf(rule.key().parts().stream().map(KeyPart::kind).toList(), key);
    }

    /** The plain values of a key with parts of these kinds, likewise. */
    public static @Nullable List<String> valuesOf(List<KeyKind> kinds, String key) {
        List<String> encoded = partsOf(key);
        if (encoded == null || encoded.size() > kinds.size()) {
            return null;
        }
        List<String> values = new ArrayList<>();
        for (String part : encoded) {
            values.add(valueOf(kinds.get(values.size()), part));
        }
        return values;
    }

    /** The plain value of one encoded part; {@code null} if it is too long to be kept as such. */
    static @Nullable String valueOf(KeyKind kind, String encoded) {
        return encoded.charAt(0) == KeyEncoder.HASHED
                ? null
                : value(encoded.charAt(0), kind, encoded.substring(encoded.indexOf(':') + 1));
    }

    private static String value(char letter, KeyKind kind, String text) {
        return switch (letter) {
            case KeyEncoder.ADDRESS -> kind == KeyKind.IP ? text : ADDRESS + text;
            case KeyEncoder.SHARED -> SHARED;
            default -> literal(kind, text);
        };
    }
}
