package dev.ratelimit.spring.rules.key;

import dev.ratelimit.spring.WebRequest;
import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.springframework.http.HttpHeaders;

/**
 * Where a request may carry a password, a token or a key: in a header, the query, a parameter of the path, a cookie or the
 * body. Whoever treats a request better because it carries none asks here: preflights, exempt places and conditions, and
 * management endpoints. A client certificate does not count: its owner has proved to have the key, so nobody can guess.
 *
 * <p>Which headers the application reads is unknown, so any header may hold a credential, except those that browsers,
 * probes and proxies are known to send for other purposes. Immutable.
 */
public final class Credentials {

    /** First those of browsers and probes, then those of proxies and tracing. */
    private static final Set<String> HARMLESS = Set.of("""
            accept accept-charset accept-encoding accept-language access-control-request-headers
            access-control-request-local-network access-control-request-method
            access-control-request-private-network cache-control connection content-encoding
            content-language content-length content-type date dnt expect host if-match
            if-modified-since if-none-match if-range if-unmodified-since keep-alive max-forwards origin
            pragma priority purpose range referer save-data sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform
            sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-storage-access sec-fetch-user sec-gpc
            sec-purpose te trailer transfer-encoding upgrade upgrade-insecure-requests user-agent warning
            x-requested-with
            b3 cdn-loop cf-connecting-ip cf-ipcountry cf-ray cf-visitor forwarded traceparent tracestate
            true-client-ip via x-amzn-trace-id x-b3-parentspanid x-b3-sampled x-b3-spanid x-b3-traceid
            x-client-ip x-cloud-trace-context x-correlation-id x-forwarded-for x-forwarded-host
            x-forwarded-port x-forwarded-prefix x-forwarded-proto x-forwarded-server x-real-ip x-request-id
            x-request-start""".strip().split("\\s+"));

    /** Methods of requests that have no body unless they say so. */
    private static final Set<String> WITHOUT_BODY = Set.of("GET", "HEAD", "OPTIONS", "TRACE", "DELETE");

    private final Set<String> harmless;

    /** The places of an application whose policies have these key parts; a header that is a part of a key is one of them. */
    public Credentials(Collection<KeyPart> parts) {
        Set<String> others = new HashSet<>(HARMLESS);
        parts.forEach(part -> others.remove(String.valueOf(part.header())));
        this.harmless = Set.copyOf(others);
    }

    /** Whether the request may carry a credential. */
    public boolean mayBeIn(WebRequest request) {
        return mayBeInUrlOf(request) || mayBeBesideUrlOf(request);
    }

    /** Whether the URL may hold a credential, in its query or in a parameter of its path. */
    boolean mayBeInUrlOf(WebRequest request) {
        String query = request.query();
        return (query != null && !query.isEmpty()) || request.url().indexOf(';') >= 0;
    }

    /** Whether a header or the body may hold a credential. */
    public boolean mayBeBesideUrlOf(WebRequest request) {
        for (String name : request.headerNames()) {
            if (!harmless.contains(name.toLowerCase(Locale.ROOT))) {
                return true;
            }
        }
        return mayHaveBody(request);
    }

    /** Since HTTP/2, the length of a body may be unknown without a header that says so. */
    private static boolean mayHaveBody(WebRequest request) {
        long length = request.contentLength();
        return length > 0
                || request.header(HttpHeaders.TRANSFER_ENCODING) != null
                || (length < 0
                        && (request.header(HttpHeaders.CONTENT_TYPE) != null
                                || !WITHOUT_BODY.contains(request.method())));
    }
}
