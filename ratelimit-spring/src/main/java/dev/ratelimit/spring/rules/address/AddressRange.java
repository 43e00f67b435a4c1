package dev.ratelimit.spring.rules.address;

import dev.ratelimit.spring.rules.text.Quotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A network: all addresses with the same first bits. Immutable.
 *
 * @param high the first 64 bits of the network's address; IPv4 is kept as IPv4-mapped IPv6
 * @param low the last 64 bits
 * @param prefix how many bits are shared, from 0 to 128; for IPv4, 96 more than written
 * @param v4 whether it is an IPv4 network
 */
public record AddressRange(long high, long low, int prefix, boolean v4) {

    /** No IPv6 address is in it, so IPv6 is complete without it. */
    private static final AddressRange MAPPED = new AddressRange(0, 0xffffL << 32, 96, false);

    /** Of peers that have no address, such as those of Unix domain sockets: none is in it. */
    static final AddressRange UNIX = new AddressRange(0, 0, 128, true);

    /** How many networks a message names. */
    private static final int SHOWN = 4;

    /**
     * Reads an address, or a network in the notation of RFC 4632 and RFC 4291. Bits beyond the prefix are dropped.
     *
     * @param text such as {@code 10.0.0.7}, {@code 10.0.0.0/8} or {@code 2001:db8::/32}
     * @throws IllegalArgumentException if it is neither; names are not looked up
     */
    public static AddressRange parse(String text) {
        String written = text.strip();
        int slash = written.indexOf('/');
        String before = slash < 0 ? written : written.substring(0, slash);
        IpAddress address = new IpAddress();
        if (before.indexOf('[') >= 0 || before.indexOf('%') >= 0 || !address.readBare(before)) {
            throw new IllegalArgumentException(Quotation.of(written)
                    + " is not an address; write 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32 (names are not looked up)");
        }
        boolean v4 = address.isV4() && before.indexOf(':') < 0;
        int width = v4 ? 32 : 128;
        int bits = slash < 0 ? width : prefix(written, written.substring(slash + 1), width);
        int prefix = v4 ? bits + 96 : bits;
        // ::ffff:10.0.0.0/104 is 10.0.0.0/8
        boolean ofV4 = address.isV4() && prefix >= 96;
        return new AddressRange(
                address.high() & IpAddress.mask(prefix), address.low() & IpAddress.mask(prefix - 64), prefix, ofV4);
    }

    /**
     * Reads the addresses of proxies.
     *
     * @param text as for {@link #parse}, or {@code unix} for peers without an address
     * @throws IllegalArgumentException if it is neither
     */
    public static AddressRange parseProxy(String text) {
        return text.strip().equalsIgnoreCase("unix") ? UNIX : parse(text);
    }

    private static int prefix(String written, String digits, int width) {
        boolean number =
                !digits.isEmpty() && digits.length() <= 3 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        int prefix = number ? Integer.parseInt(digits) : -1;
        if (prefix < 0 || prefix > width) {
            throw new IllegalArgumentException(Quotation.of(written) + " must have a prefix from 0 to " + width
                    + " but has " + Quotation.of(digits));
        }
        return prefix;
    }

    /** Whether {@link #parse} accepts the text. */
    public static boolean isAddress(String text) {
        try {
            parse(text);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Whether the network contains the address. */
    public boolean contains(IpAddress address) {
        return v4 == address.isV4()
                && (address.high() & IpAddress.mask(prefix)) == high
                && (address.low() & IpAddress.mask(prefix - 64)) == low;
    }

    /** Whether the two networks have an address in common. */
    public boolean overlaps(AddressRange other) {
        int shared = Math.min(prefix, other.prefix);
        return v4 == other.v4
                && ((high ^ other.high) & IpAddress.mask(shared)) == 0
                && ((low ^ other.low) & IpAddress.mask(shared - 64)) == 0;
    }

    /** Whether one of the networks contains the address. */
    public static boolean anyContains(List<AddressRange> ranges, IpAddress address) {
        for (int i = 0; i < ranges.size(); i++) {
            if (ranges.get(i).contains(address)) {
                return true;
            }
        }
        return false;
    }

    /**
     * For messages: which of these networks are every IPv4 or every IPv6 address, alone or together, such as
     * {@code 0.0.0.0/1, 128.0.0.0/1 together are every address}; empty if neither family is complete.
     */
    public static Stream<String> everything(List<AddressRange> ranges) {
        List<AddressRange> v4 = ranges.stream().filter(AddressRange::v4).toList();
        Stream<AddressRange> v6 = ranges.stream().filter(range -> !range.v4);
        return Stream.of(
                        parts(v4, 96),
                        parts(Stream.concat(v6, Stream.of(MAPPED)).toList(), 0))
                .filter(parts -> !parts.isEmpty())
                .map(AddressRange::describe);
    }

    /** Those of the networks that together contain every address; empty if one is missing. */
    private static List<AddressRange> parts(List<AddressRange> family, int prefix) {
        List<AddressRange> parts = new ArrayList<>();
        return fill(family, prefix, parts)
                ? parts.stream().filter(part -> !part.equals(MAPPED)).toList()
                : List.of();
    }

    /** Whether the networks, which all begin with the same bits, contain every address that begins with them. */
    private static boolean fill(List<AddressRange> ranges, int bits, List<AddressRange> parts) {
        for (AddressRange range : ranges) {
            if (range.prefix == bits) {
                return parts.add(range);
            }
        }
        Map<Boolean, List<AddressRange>> halves =
                ranges.stream().collect(Collectors.partitioningBy(range -> range.bit(bits)));
        return halves.values().stream().noneMatch(List::isEmpty)
                && halves.values().stream().allMatch(half -> fill(half, bits + 1, parts));
    }

    private boolean bit(int index) {
        return (index < 64 ? high << index : low << (index - 64)) < 0;
    }

    private static String describe(List<AddressRange> parts) {
        String shown = parts.stream().limit(SHOWN).map(AddressRange::toString).collect(Collectors.joining(", "));
        String more = parts.size() > SHOWN ? " and " + (parts.size() - SHOWN) + " more" : "";
        return shown + more + (parts.size() == 1 ? " is" : " together are") + " every address";
    }

    /** The network in its usual notation, such as {@code 10.0.0.0/8}. */
    @Override
    public String toString() {
        if (equals(UNIX)) {
            return "unix";
        }
        StringBuilder text = new StringBuilder();
        IpAddress.of(high, low).appendTo(text, prefix - 96, prefix);
        return text.toString();
    }
}
