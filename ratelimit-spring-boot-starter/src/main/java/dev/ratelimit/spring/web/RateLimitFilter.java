package dev.ratelimit.spring.web;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.spring.Stage;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.springframework.http.HttpHeaders;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Charges every request against the rules that apply to it, all or none, and refuses what exceeds one. Registered for the
 * dispatch of the request itself only, so that whatever follows it (async, forward, include, error) is not charged again;
 * and twice where there is Spring Security, with the rules of one stage each.
 */
public final class RateLimitFilter extends OncePerRequestFilter {

    private final Stage stage;
    private final String alreadyFiltered;
    private final Supplier<RequestRules> rules;
    private final RateLimitStore store;
    private final Answers answers;
    private final Outcomes outcomes;

    /**
     * A filter of these steps.
     *
     * @param stage whose rules; {@link Stage#AUTO} for all
     * @param rules asked at each request for those in force
     */
    public RateLimitFilter(
            Stage stage, Supplier<RequestRules> rules, RateLimitStore store, Answers answers, Outcomes outcomes) {
        this.stage = stage;
        this.alreadyFiltered = RateLimitFilter.class.getName() + "." + stage + ALREADY_FILTERED_SUFFIX;
        this.rules = rules;
        this.store = store;
        this.answers = answers;
        this.outcomes = outcomes;
    }

    /** A preflight is the browser's question, not the caller's request; browsers send no credentials with it. */
    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return CorsUtils.isPreFlightRequest(request)
                && request.getHeader(HttpHeaders.AUTHORIZATION) == null
                && request.getHeader(HttpHeaders.COOKIE) == null;
    }

    /** Two filters of one class are two. */
    @Override
    protected String getAlreadyFilteredAttributeName() {
        return alreadyFiltered;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        RequestRules inForce = rules.get();
        Passage begun = Passage.of(request);
        Passage passage = begun != null ? begun : new Passage(inForce.call(request));
        boolean begins = begun == null;
        AppliedRules applied = inForce.applyTo(passage, stage);
        if (!applied.charge(store)) {
            passage.refuse(applied, store, outcomes);
            answers.refuse(passage, request, response);
            return;
        }
        passage.admit(applied, store, outcomes);
        if (stage != Stage.BEFORE_SECURITY) {
            passage.countAdmitted(outcomes);
        }
        boolean failed = true;
        try {
            passage.call().throwFailure();
            chain.doFilter(request, answers.admit(passage, response));
            failed = false;
        } finally {
            if (begins) {
                passage.countAdmitted(outcomes);
                passage.settle(response, failed, store);
            }
        }
    }
}
