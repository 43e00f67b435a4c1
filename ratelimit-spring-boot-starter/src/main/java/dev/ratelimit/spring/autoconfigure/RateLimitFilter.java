package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.rules.ChargedRequest;
import dev.ratelimit.spring.rules.RequestLimiter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Charges each request to all rules that apply to it, or to none, and refuses it if one of them does. Registered only
 * for the dispatch of the request itself, so that subsequent dispatches (async, forward, include, error) are not
 * charged again. With Spring Security, registered twice, with the rules of one stage each.
 */
final class RateLimitFilter extends OncePerRequestFilter {

    private static final String CHARGED = ChargedRequest.class.getName();

    private final String stage;
    private final RequestLimiter limiter;
    private final ServletPaths paths;
    private final CorsHeaders cors;

    /**
     * Creates a filter for one stage or for all rules.
     *
     * @param stage a name that no other filter has
     */
    RateLimitFilter(String stage, RequestLimiter limiter, ServletPaths paths, CorsHeaders cors) {
        this.stage = stage;
        this.limiter = limiter;
        this.paths = paths;
        this.cors = cors;
    }

    /** What the request was charged; {@code null} if no filter has seen it. */
    static @Nullable ChargedRequest chargedOf(HttpServletRequest request) {
        return (ChargedRequest) request.getAttribute(CHARGED);
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return request.getMethod().equals("OPTIONS") && limiter.isFreePreflight(new ServletWebRequest(request, paths));
    }

    /** Distinguishes two filters of the same class. */
    @Override
    protected String getAlreadyFilteredAttributeName() {
        return stage;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        ServletWebRequest web = new ServletWebRequest(request, paths);
        boolean first = chargedOf(request) == null;
        ChargedRequest charged = RequestScope.within(request, response, () -> charge(web, response));
        if (charged.isRefused()) {
            return;
        }
        try {
            Settlement.cover(request, charged);
            Reservation reservation = charged.reservation();
            if (reservation != null) {
                request.setAttribute(Reservation.class.getName(), reservation);
            }
            web.rethrowFailure();
            boolean hasHeaders = charged.writeHeaders(new ServletWebResponse(response));
            HttpServletResponse answer = HeldPermits.watched(request, response, charged);
            chain.doFilter(request, hasHeaders ? new RedirectWithout(limiter.headers(), answer) : answer);
        } finally {
            if (first) {
                charged.countAdmitted();
                HeldPermits.releaseAfter(request, charged);
            }
        }
    }

    /** Refuses without {@code sendError}: in an error dispatch, Spring Security may turn it into a 401. */
    private ChargedRequest charge(ServletWebRequest web, HttpServletResponse response) throws IOException {
        HttpServletRequest request = web.request();
        ChargedRequest charged = limiter.charge(chargedOf(request), web);
        request.setAttribute(CHARGED, charged);
        if (charged.isRefused() && !response.isCommitted()) {
            cors.write(request, response);
            charged.writeRefusal(new ServletWebResponse(response));
        }
        return charged;
    }
}
