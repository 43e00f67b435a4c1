package dev.ratelimit.spring.servlet.filter;

import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.servlet.request.KeptBody;
import dev.ratelimit.spring.servlet.request.RequestScope;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import dev.ratelimit.spring.servlet.request.ServletWebResponse;
import dev.ratelimit.spring.servlet.request.UnreadableParametersException;
import dev.ratelimit.spring.servlet.settlement.Passage;
import dev.ratelimit.spring.servlet.settlement.WatchedResponse;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Charges each request to all rules that apply to it, or to none, and refuses it if one of them does, or lets it wait.
 * Only the dispatch of the request itself is charged, not subsequent ones (async, forward, include, error); the async
 * dispatch of a request that has waited here goes on where it waited. With Spring Security, registered twice, with the
 * rules of one stage each.
 */
public final class RateLimitFilter extends OncePerRequestFilter {

    private final String stage;
    private final RequestLimiter limiter;
    private final ServletPaths paths;
    private final CorsHeaders cors;
    private final ThrownRefusals thrownRefusals;

    /** Whether any request may wait. */
    private final boolean letsWait;

    /**
     * Creates a filter for one stage or for all rules.
     *
     * @param stage a name that no other filter has
     */
    public RateLimitFilter(String stage, RequestLimiter limiter, ServletPaths paths, CorsHeaders cors) {
        this.stage = stage;
        this.limiter = limiter;
        this.paths = paths;
        this.cors = cors;
        this.thrownRefusals = new ThrownRefusals(limiter.calls(), paths, cors);
        this.letsWait = limiter.letsRequestsWait();
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        if (isAsyncDispatch(request)) {
            return !isResumed(request);
        }
        return mayBePreflight(request) && limiter.isFreePreflight(new ServletWebRequest(request, paths));
    }

    private static boolean mayBePreflight(HttpServletRequest request) {
        return request.getMethod().equals("OPTIONS");
    }

    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return !letsWait;
    }

    /** Whether the request has waited here. */
    private boolean isResumed(HttpServletRequest request) {
        return letsWait && limiter.hasWaiting(Passage.chargedOf(request));
    }

    /** Distinguishes two filters of the same class. */
    @Override
    protected String getAlreadyFilteredAttributeName() {
        return stage;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest arrived, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        try {
            limit(arrived, response, chain);
        } catch (UnreadableParametersException e) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST);
        } catch (ServletException | RuntimeException e) {
            if (!thrownRefusals.answer(e, arrived, response)) {
                throw e;
            }
        }
    }

    private void limit(HttpServletRequest arrived, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        boolean resumed = isResumed(arrived);
        HttpServletRequest request = resumed ? ParkedRequest.resume(arrived) : arrived;
        Passage passage = Passage.at(request, response);
        boolean first = resumed || passage.charged() == null;
        boolean returned = false;
        try {
            limit(passage, first, request, response, chain);
            returned = true;
        } finally {
            if (first && !passage.isOutermost()) {
                passage.leave(request, returned, false);
            }
        }
    }

    private void limit(
            Passage passage, boolean first, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        ServletWebRequest web = new ServletWebRequest(request, paths);
        ChargedRequest charged = RequestScope.within(request, response, () -> charge(passage, web, response));
        if (charged.isWaiting()) {
            ParkedRequest.park(web, response, charged);
            return;
        }
        if (charged.isRefused()) {
            return;
        }
        passage.cover(request, charged);
        web.rethrowFailure();
        List<String> headers = charged.writeHeaders(new ServletWebResponse(response));
        HttpServletResponse answer = passage.watched(response, charged);
        if (!headers.isEmpty()) {
            answer = WatchedResponse.watch(answer, new RedirectWithout(headers, answer));
        }
        passage.answerBy(answer);
        chain.doFilter(Passage.shown(KeptBody.of(request), charged), answer);
        if (first && mayBePreflight(request) && limiter.isRefundedPreflight(web) && succeeded(request, response)) {
            charged.refund();
        }
    }

    private static boolean succeeded(HttpServletRequest request, HttpServletResponse response) {
        return !request.isAsyncStarted() && response.getStatus() / 100 == 2;
    }

    /** Refuses without {@code sendError}: in an error dispatch, Spring Security may turn it into a 401. */
    private ChargedRequest charge(Passage passage, ServletWebRequest web, HttpServletResponse response)
            throws IOException {
        HttpServletRequest request = web.request();
        ChargedRequest before = passage.charged();
        boolean canWait = letsWait && ParkedRequest.isPossible(request);
        ChargedRequest charged =
                before != null && passage.hasPassed(stage) ? before : limiter.charge(before, web, canWait);
        try {
            passage.keep(charged, stage);
            if (charged.isRefused() && !charged.isWaiting() && !response.isCommitted()) {
                cors.write(request, response);
                charged.writeRefusal(new ServletWebResponse(response));
            }
        } catch (IOException | RuntimeException | Error e) {
            // nobody else will
            charged.leave();
            charged.release();
            throw e;
        }
        return charged;
    }
}
