package dev.ratelimit.spring.rules.address;

import dev.ratelimit.spring.rules.text.Tokens;

/**
 * An IP address of 128 bits. IPv4 is kept as IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2), so that both spellings are
 * the same address. Mutable, so that reading one from a header allocates nothing. Not thread-safe.
 */
public final class IpAddress {

    private static final long MAPPED = 0xffffL << 32;
    private static final int MAPPED_PREFIX = 96;

    private long high;
    private long low;

    /**
     * Reads an address in the notation of RFC 791 or RFC 4291, with a zone (which is dropped), in brackets or with a
     * port. Names are not looked up. Incomplete addresses are refused, including {@code 010.0.0.1}, {@code 0x7f.1} and
     * {@code 1.2.3}, which other parsers accept.
     *
     * @return whether the text is an address; if not, this object has no meaningful value
     */
    public boolean read(CharSequence text, int from, int to) {
        if (from >= to) {
            return false;
        }
        if (text.charAt(from) == '[') {
            int close = Tokens.indexOf(text, ']', from, to);
            return close >= 0 && (close + 1 == to || isPort(text, close + 1, to)) && readV6(text, from + 1, close);
        }
        int colon = Tokens.indexOf(text, ':', from, to);
        if (colon < 0) {
            return readV4(text, from, to);
        }
        if (Tokens.indexOf(text, ':', colon + 1, to) < 0) {
            return isPort(text, colon, to) && readV4(text, from, colon);
        }
        return readV6(text, from, to);
    }

    /** An address with these bits. */
    static IpAddress of(long high, long low) {
        IpAddress address = new IpAddress();
        address.set(high, low);
        return address;
    }

    /** Reads the whole text, without a port. */
    public boolean readBare(String text) {
        return text.indexOf(':') < 0 ? readV4(text, 0, text.length()) : readV6(text, 0, text.length());
    }

    private boolean set(long newHigh, long newLow) {
        high = newHigh;
        low = newLow;
        return true;
    }

    long high() {
        return high;
    }

    long low() {
        return low;
    }

    boolean isV4() {
        return high == 0 && low >>> 32 == 0xffff;
    }

    /** Whether it belongs to this machine or a private network (RFC 1918, RFC 4193), where proxies are. */
    boolean isLocal() {
        if (!isV4()) {
            return (high == 0 && low == 1) || high >>> 57 == 0xfc >>> 1 || high >>> 54 == 0xfe80 >>> 6;
        }
        int v4 = (int) low;
        return v4 >>> 24 == 10 || v4 >>> 24 == 127 || v4 >>> 20 == 0xac1 || v4 >>> 16 == 0xc0a8;
    }

    private static boolean isPort(CharSequence text, int colon, int to) {
        if (text.charAt(colon) != ':' || to - colon < 2 || to - colon > 6) {
            return false;
        }
        for (int i = colon + 1; i < to; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    private boolean readV4(CharSequence text, int from, int to) {
        long bits = v4(text, from, to);
        return bits >= 0 && set(0, MAPPED | bits);
    }

    /** The 32 bits of an address written as four decimal numbers, or -1. */
    private static long v4(CharSequence text, int from, int to) {
        long bits = 0;
        int numbers = 0;
        int start = from;
        for (int i = from; i <= to; i++) {
            if (i < to && text.charAt(i) != '.') {
                continue;
            }
            int octet = octet(text, start, i);
            if (octet < 0 || ++numbers > 4) {
                return -1;
            }
            bits = bits << 8 | octet;
            start = i + 1;
        }
        return numbers == 4 ? bits : -1;
    }

    private static int octet(CharSequence text, int from, int to) {
        if (to - from < 1 || to - from > 3 || (text.charAt(from) == '0' && to - from > 1)) {
            return -1;
        }
        int octet = 0;
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            octet = octet * 10 + c - '0';
        }
        return octet < 256 ? octet : -1;
    }

    private boolean readV6(CharSequence text, int from, int end) {
        int zone = Tokens.indexOf(text, '%', from, end);
        int to = zone < 0 ? end : zone;
        set(0, 0);
        int groups = 0;
        int gap = -1; // number of groups before "::"
        int at = from;
        if (from + 1 < to && text.charAt(from) == ':' && text.charAt(from + 1) == ':') {
            gap = 0;
            at += 2;
        }
        while (at < to) {
            int colon = Tokens.indexOf(text, ':', at, to);
            int stop = colon < 0 ? to : colon;
            long bits = group(text, at, stop);
            boolean v4 = bits < 0 && stop == to;
            bits = v4 ? v4(text, at, stop) : bits;
            groups += v4 ? 2 : 1;
            if (bits < 0 || groups > 8) {
                return false;
            }
            append(bits, v4 ? 32 : 16);
            at = stop + 1;
            if (at < to && text.charAt(at) == ':' && gap < 0) {
                gap = groups;
                at++;
            } else if (at == to) {
                return false; // ends with a single colon
            }
        }
        return gap < 0 ? groups == 8 : groups < 8 && widen(16 * (groups - gap), 16 * (8 - groups));
    }

    private void append(long bits, int width) {
        high = high << width | low >>> (64 - width);
        low = low << width | bits;
    }

    /** Inserts this many zeros before the last {@code tail} bits. */
    private boolean widen(int tail, int zeros) {
        long tailHigh = tail > 64 ? high & ~mask(128 - tail) : 0;
        long tailLow = tail >= 64 ? low : low & ~mask(64 - tail);
        long headHigh = high ^ tailHigh;
        long headLow = low ^ tailLow;
        if (zeros >= 64) {
            headHigh = zeros == 128 ? 0 : headLow << (zeros - 64);
            headLow = 0;
        } else {
            headHigh = headHigh << zeros | headLow >>> (64 - zeros);
            headLow <<= zeros;
        }
        return set(headHigh | tailHigh, headLow | tailLow);
    }

    private static long group(CharSequence text, int from, int to) {
        if (to - from < 1 || to - from > 4) {
            return -1;
        }
        int bits = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) < 128 ? Character.digit(text.charAt(i), 16) : -1;
            if (digit < 0) {
                return -1;
            }
            bits = bits << 4 | digit;
        }
        return bits;
    }

    /**
     * Writes the network with this many bits, IPv4 or IPv6: {@code 10.0.0.7}, {@code 10.0.0.0/8},
     * {@code 2001:db8:0:1::/64}.
     */
    public void appendTo(StringBuilder out, int v4Prefix, int v6Prefix) {
        if (isV4()) {
            int network = (int) (low & mask(v4Prefix + MAPPED_PREFIX - 64));
            out.append(network >>> 24)
                    .append('.')
                    .append((network >>> 16) & 0xff)
                    .append('.');
            out.append((network >>> 8) & 0xff).append('.').append(network & 0xff);
            if (v4Prefix < 32) {
                out.append('/').append(v4Prefix);
            }
            return;
        }
        long networkHigh = high & mask(v6Prefix);
        long networkLow = low & mask(v6Prefix - 64);
        for (int group = 0; 16 * group < v6Prefix; group++) {
            long half = group < 4 ? networkHigh : networkLow;
            int bits = (int) (half >>> (48 - 16 * (group & 3))) & 0xffff;
            appendHex(group == 0 ? out : out.append(':'), bits);
        }
        if (v6Prefix < 128) {
            out.append(v6Prefix <= 112 ? "::/" : "/").append(v6Prefix);
        }
    }

    /** The address in full. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        appendTo(text, 32, 128);
        return text.toString();
    }

    private static void appendHex(StringBuilder out, int bits) {
        for (int shift = bits == 0 ? 0 : (31 - Integer.numberOfLeadingZeros(bits)) / 4 * 4; shift >= 0; shift -= 4) {
            out.append(Character.forDigit((bits >>> shift) & 0xf, 16));
        }
    }

    /** A mask of the first {@code bits} of 64 bits: none for 0 and below, all for 64 and above. */
    static long mask(int bits) {
        return bits <= 0 ? 0 : bits >= 64 ? -1 : -1L << (64 - bits);
    }
}
