package dev.ratelimit.spring.web;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Charges every request against the rules that apply to it, all or none, and refuses what exceeds one. Registered for the
 * dispatch of the request itself only, so that whatever follows it (async, forward, include, error) is not charged again.
 */
public final class RateLimitFilter extends OncePerRequestFilter {

    private final Supplier<RequestRules> rules;
    private final RateLimitStore store;
    private final RateLimitHeaders headers;
    private final Rejection rejection;

    /** A filter of these steps; {@code rules} is asked at each request for those in force. */
    public RateLimitFilter(
            Supplier<RequestRules> rules, RateLimitStore store, RateLimitHeaders headers, Rejection rejection) {
        this.rules = rules;
        this.store = store;
        this.headers = headers;
        this.rejection = rejection;
    }

    /** A preflight is the browser's question, not the caller's request. */
    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return CorsUtils.isPreFlightRequest(request);
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        AppliedRules applied = rules.get().applyTo(request);
        if (applied.isEmpty()) {
            chain.doFilter(request, response);
            return;
        }
        Decision decision = store.decide(applied.charges());
        headers.write(response, applied, decision);
        if (decision.admitted()) {
            chain.doFilter(request, response);
        } else {
            rejection.write(response, applied, decision);
        }
    }
}
