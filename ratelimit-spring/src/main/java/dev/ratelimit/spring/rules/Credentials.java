package dev.ratelimit.spring.rules;

import dev.ratelimit.spring.WebRequest;
import java.util.Locale;
import java.util.Set;
import org.springframework.http.HttpHeaders;

/**
 * Detects requests that may try a password, a token or a key. Which headers the application reads is unknown, so any
 * header may hold a credential, except those that browsers, probes and proxies are known to send for other purposes.
 */
final class Credentials {

    /** First those of browsers and probes, then those of proxies and tracing. */
    private static final Set<String> HARMLESS = Set.of("""
            accept accept-charset accept-encoding accept-language access-control-request-headers
            access-control-request-local-network access-control-request-method
            access-control-request-private-network cache-control connection content-encoding
            content-language content-length content-type cookie date dnt expect host if-match
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

    private Credentials() {}

    /** Whether a header may hold a credential. Cookies do not count, because browsers send them everywhere. */
    static boolean mayBeIn(WebRequest request) {
        for (String name : request.headerNames()) {
            if (!HARMLESS.contains(name.toLowerCase(Locale.ROOT))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a CORS preflight may hold a credential. Browsers send neither cookies nor a body in preflights. */
    static boolean mayBeInPreflight(WebRequest request) {
        return mayBeIn(request)
                || request.header(HttpHeaders.COOKIE) != null
                || request.contentLength() > 0
                || request.header(HttpHeaders.TRANSFER_ENCODING) != null;
    }
}
