package dev.ratelimit.spring.rules.address;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.text.Tokens;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the client's address: that of the peer or, if the peer is a trusted proxy, the rightmost forwarded address that
 * is not a trusted proxy. If that cannot be read, it is the peer's: a client can hide behind its proxy, but cannot
 * impersonate another. Thread-safe; allocates nothing, unless both headers are present.
 */
public final class ClientAddress {

    private static final Logger log = LoggerFactory.getLogger(ClientAddress.class);

    private static final String FORWARDED = "Forwarded";
    private static final String X_FORWARDED_FOR = "X-Forwarded-For";

    enum Found {
        CLIENT,
        UNREADABLE,
        NOBODY
    }

    private final AtomicBoolean warned = new AtomicBoolean();
    private final List<AddressRange> trusted;
    private final ForwardedHeader header;
    private final boolean trustsUnix;

    /**
     * Finds addresses behind these proxies.
     *
     * @param trusted the addresses of the proxies; without any, the peer is the client
     * @param header which of their headers is trusted
     */
    public ClientAddress(List<AddressRange> trusted, ForwardedHeader header) {
        this.trusted = List.copyOf(trusted);
        this.header = header;
        this.trustsUnix = trusted.contains(AddressRange.UNIX);
    }

    /**
     * Finds the client's address.
     *
     * @return whether there is one; {@code false} if the peer has none, such as on a Unix socket, and is no trusted proxy that
     *     names one
     */
    public boolean find(WebRequest wrapped, IpAddress address) {
        // filters may have replaced the address with one from an untrusted header and removed the header
        WebRequest request = wrapped.received();
        if (!readPeer(request, address)) {
            if (!trustsUnix) {
                warnOfProxy(request, "a peer without an address", "unix");
            }
            return trustsUnix && findForwarded(request, address) == Found.CLIENT;
        }
        if (trusted.isEmpty()) {
            if (address.isLocal()) {
                warnOfProxy(request, "a private address", "it");
            }
        } else if (AddressRange.anyContains(trusted, address) && findForwarded(request, address) != Found.CLIENT) {
            readPeer(request, address);
        }
        return true;
    }

    /** The headers that the address may be in. */
    public List<String> headers() {
        if (trusted.isEmpty()) {
            return List.of();
        }
        return switch (header) {
            case FORWARDED -> List.of(FORWARDED);
            case X_FORWARDED_FOR -> List.of(X_FORWARDED_FOR);
            case ANY -> List.of(FORWARDED, X_FORWARDED_FOR);
        };
    }

    /** Whether this address belongs to a trusted proxy, because the client's could not be read. */
    public boolean isProxy(IpAddress found) {
        return AddressRange.anyContains(trusted, found);
    }

    private void warnOfProxy(WebRequest request, String peer, String proxy) {
        if (!warned.get() && request.header(X_FORWARDED_FOR) != null && warned.compareAndSet(false, true)) {
            log.warn(
                    "A request with X-Forwarded-For came from {}, but no proxy is trusted, so all clients behind a proxy"
                            + " share its address. If the proxy is yours, add {} to ratelimit.trusted-proxies",
                    peer,
                    proxy);
        }
    }

    private static boolean readPeer(WebRequest request, IpAddress address) {
        String peer = request.remoteAddress();
        return peer != null && address.read(peer, 0, peer.length());
    }

    private Found findForwarded(WebRequest request, IpAddress address) {
        return switch (header) {
            case FORWARDED -> findInLines(request.headers(FORWARDED), true, address);
            case X_FORWARDED_FOR -> findInLines(request.headers(X_FORWARDED_FOR), false, address);
            case ANY -> findInEither(request.headers(FORWARDED), request.headers(X_FORWARDED_FOR), address);
        };
    }

    /**
     * Searches the header that is present. If both are present and disagree, the client may have forged one of them.
     */
    private Found findInEither(List<String> forwarded, List<String> forwardedFor, IpAddress address) {
        if (forwarded.isEmpty()) {
            return findInLines(forwardedFor, false, address);
        }
        if (forwardedFor.isEmpty()) {
            return findInLines(forwarded, true, address);
        }
        IpAddress other = new IpAddress();
        boolean agree = findInLines(forwarded, true, address) == Found.CLIENT
                && findInLines(forwardedFor, false, other) == Found.CLIENT
                && address.high() == other.high()
                && address.low() == other.low();
        return agree ? Found.CLIENT : Found.UNREADABLE;
    }

    /** Several lines form one list (RFC 9110, section 5.3), so the last line is the rightmost. */
    Found findInLines(List<? extends CharSequence> lines, boolean pairs, IpAddress address) {
        Found found = Found.NOBODY;
        for (int i = lines.size() - 1; i >= 0 && found == Found.NOBODY; i--) {
            found = findInLine(lines.get(i), pairs, address);
        }
        return found;
    }

    private Found findInLine(CharSequence line, boolean pairs, IpAddress address) {
        for (int end = line.length(); end >= 0; ) {
            int comma = pairs ? commaBefore(line, end) : Tokens.lastIndexOf(line, ',', end);
            int from = skipBlanks(line, comma + 1, end);
            if (from < end) {
                boolean read = pairs ? readFor(line, from, end, address) : readItem(line, from, end, address);
                if (!read) {
                    return Found.UNREADABLE;
                }
                if (!AddressRange.anyContains(trusted, address)) {
                    return Found.CLIENT;
                }
            }
            end = comma;
        }
        return Found.NOBODY;
    }

    /** The last comma before {@code end} outside of quoted strings, or -1. */
    private static int commaBefore(CharSequence line, int end) {
        for (int i = end - 1; i >= 0; i--) {
            char c = line.charAt(i);
            if (c == ',') {
                return i;
            }
            if (c == '"') {
                i = openingQuote(line, i);
            }
        }
        return -1;
    }

    private static int openingQuote(CharSequence line, int closing) {
        int quote = Tokens.lastIndexOf(line, '"', closing);
        while (quote > 0 && line.charAt(quote - 1) == '\\') {
            quote = Tokens.lastIndexOf(line, '"', quote);
        }
        return quote;
    }

    /** Reads the value of {@code for} of an element such as {@code for=10.0.0.7;proto=https} (RFC 7239, section 4). */
    private static boolean readFor(CharSequence line, int from, int to, IpAddress address) {
        int at = from;
        while (at < to) {
            int name = skipBlanks(line, at, to);
            int value = Tokens.indexOf(line, '=', name, to) + 1;
            if (value == 0 || value == to) {
                return false;
            }
            boolean quoted = line.charAt(value) == '"';
            int stop = quoted ? closingQuote(line, value, to) : Tokens.indexOf(line, ';', value, to);
            stop = stop < 0 || stop > to ? to : stop;
            if (quoted && !endsPair(line, stop, to)) {
                return false;
            }
            if (isFor(line, name, value - 1)) {
                return readItem(line, quoted ? value + 1 : value, stop, address);
            }
            int next = Tokens.indexOf(line, ';', stop, to);
            at = next < 0 ? to : next + 1;
        }
        return false;
    }

    private static boolean isFor(CharSequence line, int from, int to) {
        return to - from == 3
                && (line.charAt(from) | 0x20) == 'f'
                && (line.charAt(from + 1) | 0x20) == 'o'
                && (line.charAt(from + 2) | 0x20) == 'r';
    }

    /** Whether the quoted string ends here and only the next pair follows. */
    private static boolean endsPair(CharSequence line, int closing, int to) {
        int next = skipBlanks(line, closing + 1, to);
        return closing < to && (next == to || line.charAt(next) == ';');
    }

    private static int closingQuote(CharSequence line, int opening, int to) {
        int at = opening + 1;
        while (at < to && line.charAt(at) != '"') {
            at += line.charAt(at) == '\\' ? 2 : 1;
        }
        return at;
    }

    private static boolean readItem(CharSequence line, int from, int to, IpAddress address) {
        int end = to;
        while (end > from && isBlank(line.charAt(end - 1))) {
            end--;
        }
        return address.read(line, from, end);
    }

    private static int skipBlanks(CharSequence line, int from, int to) {
        int at = from;
        while (at < to && isBlank(line.charAt(at))) {
            at++;
        }
        return at;
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /** For logs, such as {@code the remote address of the connection; behind 10.0.0.0/8, by the one in Forwarded}. */
    @Override
    public String toString() {
        String remote = "the remote address of the connection";
        if (trusted.isEmpty()) {
            return remote;
        }
        String from = switch (header) {
            case ANY -> FORWARDED + " or " + X_FORWARDED_FOR;
            case FORWARDED -> FORWARDED;
            case X_FORWARDED_FOR -> X_FORWARDED_FOR;
        };
        return remote + "; behind "
                + String.join(", ", trusted.stream().map(AddressRange::toString).toList()) + ", by the one in " + from;
    }
}
