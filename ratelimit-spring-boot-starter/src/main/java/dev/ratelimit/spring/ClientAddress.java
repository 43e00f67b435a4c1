package dev.ratelimit.spring;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whose address a request has: the peer's, or, if that is a trusted proxy, the first that is none from the right of what
 * the proxies say. What cannot be read there is the peer's: a client can hide behind its proxy, but not be somebody else.
 * Thread-safe; allocates nothing.
 */
public final class ClientAddress {

    private static final Logger log = LoggerFactory.getLogger(ClientAddress.class);

    private static final String FORWARDED = "Forwarded";
    private static final String X_FORWARDED_FOR = "X-Forwarded-For";

    private enum Found {
        CLIENT,
        UNREADABLE,
        NOBODY
    }

    private final AtomicBoolean warned = new AtomicBoolean();
    private final List<AddressRange> trusted;
    private final ForwardedHeader header;

    /**
     * Addresses behind these proxies.
     *
     * @param trusted the proxies' own addresses; without any, the peer is the client
     * @param header which of their headers is believed
     */
    public ClientAddress(List<AddressRange> trusted, ForwardedHeader header) {
        this.trusted = List.copyOf(trusted);
        this.header = header;
    }

    /**
     * Finds the client's address.
     *
     * @return whether there is one; not where the peer has none, such as on a Unix socket
     */
    boolean find(HttpServletRequest wrapped, IpAddress address) {
        if (trusted.isEmpty()) {
            boolean found = readPeer(wrapped, address);
            if (found && !warned.get() && address.isLocal() && wrapped.getHeader(X_FORWARDED_FOR) != null) {
                warnOfProxy();
            }
            return found;
        }
        // filters may have replaced the address by what anybody wrote into a header, and taken the header away
        HttpServletRequest request = received(wrapped);
        if (!readPeer(request, address)) {
            return false;
        }
        if (AddressRange.anyContains(trusted, address) && findForwarded(request, address) != Found.CLIENT) {
            readPeer(request, address);
        }
        return true;
    }

    private void warnOfProxy() {
        if (warned.compareAndSet(false, true)) {
            log.warn("A request with X-Forwarded-For came from a private address, but no proxy is trusted: all clients"
                    + " behind a proxy share one address then. If it is yours, name it in ratelimit.trusted-proxies");
        }
    }

    /** The request as the container made it. */
    private static HttpServletRequest received(HttpServletRequest request) {
        ServletRequest inner = request;
        while (inner instanceof ServletRequestWrapper wrapper) {
            inner = wrapper.getRequest();
        }
        return inner instanceof HttpServletRequest http ? http : request;
    }

    private static boolean readPeer(HttpServletRequest request, IpAddress address) {
        String peer = request.getRemoteAddr();
        return peer != null && address.read(peer, 0, peer.length());
    }

    private Found findForwarded(HttpServletRequest request, IpAddress address) {
        if (header != ForwardedHeader.X_FORWARDED_FOR) {
            Enumeration<String> lines = request.getHeaders(FORWARDED);
            if (header == ForwardedHeader.FORWARDED || (lines != null && lines.hasMoreElements())) {
                return findInLines(lines, true, address);
            }
        }
        return findInLines(request.getHeaders(X_FORWARDED_FOR), false, address);
    }

    /** Several lines are one list (RFC 9110, section 5.3), so the last line comes first from the right. */
    private Found findInLines(@Nullable Enumeration<String> lines, boolean pairs, IpAddress address) {
        if (lines == null || !lines.hasMoreElements()) {
            return Found.NOBODY;
        }
        String line = lines.nextElement();
        Found found = findInLines(lines, pairs, address);
        return found == Found.NOBODY ? findInLine(line, pairs, address) : found;
    }

    private Found findInLine(String line, boolean pairs, IpAddress address) {
        for (int end = line.length(); end >= 0; ) {
            int comma = pairs ? commaBefore(line, end) : line.lastIndexOf(',', end - 1);
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

    /** The last comma before {@code end} that stands in no quoted string, or -1. */
    private static int commaBefore(String line, int end) {
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

    private static int openingQuote(String line, int closing) {
        int quote = line.lastIndexOf('"', closing - 1);
        while (quote > 0 && line.charAt(quote - 1) == '\\') {
            quote = line.lastIndexOf('"', quote - 1);
        }
        return quote;
    }

    /** Reads the value of {@code for} of an element such as {@code for=10.0.0.7;proto=https} (RFC 7239, section 4). */
    private static boolean readFor(String line, int from, int to, IpAddress address) {
        int at = from;
        while (at < to) {
            int name = skipBlanks(line, at, to);
            int value = line.indexOf('=', name) + 1;
            if (value == 0 || value >= to) {
                return false;
            }
            boolean quoted = line.charAt(value) == '"';
            int stop = quoted ? closingQuote(line, value, to) : line.indexOf(';', value);
            stop = stop < 0 || stop > to ? to : stop;
            if (value - 1 - name == 3 && line.regionMatches(true, name, "for", 0, 3)) {
                return readItem(line, quoted ? value + 1 : value, stop, address);
            }
            int next = line.indexOf(';', stop);
            at = next < 0 ? to : next + 1;
        }
        return false;
    }

    private static int closingQuote(String line, int opening, int to) {
        int at = opening + 1;
        while (at < to && line.charAt(at) != '"') {
            at += line.charAt(at) == '\\' ? 2 : 1;
        }
        return at;
    }

    private static boolean readItem(String line, int from, int to, IpAddress address) {
        int end = to;
        while (end > from && isBlank(line.charAt(end - 1))) {
            end--;
        }
        return address.read(line, from, end);
    }

    private static int skipBlanks(String line, int from, int to) {
        int at = from;
        while (at < to && isBlank(line.charAt(at))) {
            at++;
        }
        return at;
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /** For people: {@code the peer, or behind 10.0.0.0/8 the client of X-Forwarded-For}. */
    @Override
    public String toString() {
        if (trusted.isEmpty()) {
            return "the peer's";
        }
        String from = switch (header) {
            case ANY -> FORWARDED + ", else of " + X_FORWARDED_FOR;
            case FORWARDED -> FORWARDED;
            case X_FORWARDED_FOR -> X_FORWARDED_FOR;
        };
        return "the peer's, or behind "
                + String.join(", ", trusted.stream().map(AddressRange::toString).toList()) + " the client's of " + from;
    }
}
