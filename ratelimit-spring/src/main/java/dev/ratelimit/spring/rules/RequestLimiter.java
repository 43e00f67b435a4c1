package dev.ratelimit.spring.rules;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.WebRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Charges each request to all rules that apply to it, or to none: either to all rules at once or, with Spring Security,
 * in two stages, before and after it. Thread-safe.
 */
public final class RequestLimiter {

    private final RequestRules rules;
    private final RateLimitStore store;
    private final OutcomeCounter outcomes;
    private final RefusalWriter refusals;

    /** The stage of the rules; {@code null} for all rules. */
    private final @Nullable Stage stage;

    /**
     * Charges requests to all rules at once.
     *
     * @param rules the rules that apply
     * @param properties which headers and responses callers get
     * @param store decides
     * @param outcomes counts outcomes
     * @param ticker the clock for messages about policies in shadow mode
     * @param handler writes refusals; {@code null} for problem details
     */
    public RequestLimiter(
            RequestRules rules,
            RateLimitProperties properties,
            RateLimitStore store,
            OutcomeCounter outcomes,
            Ticker ticker,
            @Nullable RejectionHandler handler) {
        this(
                rules,
                new RefundingStore(store),
                new ShadowLog(outcomes, ticker),
                RefusalWriter.of(properties, handler),
                null);
    }

    private RequestLimiter(
            RequestRules rules,
            RateLimitStore store,
            OutcomeCounter outcomes,
            RefusalWriter refusals,
            @Nullable Stage stage) {
        this.rules = rules;
        this.store = store;
        this.outcomes = outcomes;
        this.refusals = refusals;
        this.stage = stage;
    }

    /** Returns a limiter with the same rules that charges only those before Spring Security. */
    public RequestLimiter beforeSecurity() {
        return new RequestLimiter(rules, store, outcomes, refusals, Stage.BEFORE_SECURITY);
    }

    /** Returns a limiter with the same rules that charges only those after Spring Security. */
    public RequestLimiter afterSecurity() {
        return new RequestLimiter(rules, store, outcomes, refusals, Stage.AFTER_SECURITY);
    }

    /**
     * Whether the request is a CORS preflight that is not charged, because the browser sends it and not the caller.
     * Preflights that may carry a credential are charged: browsers never send one.
     */
    public boolean isFreePreflight(WebRequest request) {
        return rules.inForce().isFreePreflight(request);
    }

    /**
     * Charges a request at this stage.
     *
     * @param before the result of the stage before; {@code null} at the first stage
     * @return the request, refused or not
     */
    public ChargedRequest charge(@Nullable ChargedRequest before, WebRequest request) {
        ChargedRequest charged = before;
        if (charged == null) {
            charged = new ChargedRequest(rules.inForce(), request, outcomes, refusals);
        } else {
            charged.enter(charged.context().at(request));
        }
        StageCharges charges = charged.rules().applyTo(charged.context(), stage, store);
        boolean last = stage != Stage.BEFORE_SECURITY;
        boolean awaitsCall = last && charged.rules().limitCallAt(charged.context());
        charged.charge(charges, last && !awaitsCall);
        if (awaitsCall && !charged.isRefused()) {
            charged.awaitCall();
        }
        return charged;
    }

    /** Returns a limiter of method calls, with the same rules. */
    public CallLimiter calls() {
        return new CallLimiter(rules, store, outcomes, refusals);
    }

    /** The names of the headers that show callers their budgets. */
    public List<String> headers() {
        return refusals.headers();
    }

    /** The names of the headers that show refused callers when to retry. */
    public List<String> refusalHeaders() {
        return refusals.refusalHeaders();
    }
}
