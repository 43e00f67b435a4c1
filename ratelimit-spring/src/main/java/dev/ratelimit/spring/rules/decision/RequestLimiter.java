package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RejectionHandler;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Stage;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Charges each request to all rules that apply to it, or to none: either to all rules at once or, with Spring Security,
 * in two stages, before and after it. Thread-safe.
 */
public final class RequestLimiter {

    private static final Reads ENDPOINT = Reads.of(Reads.Fact.ENDPOINT);

    private final RequestRules rules;
    private final WaitingRequests waiting;
    private final OutcomeCounter outcomes;
    private final RefusalWriter refusals;

    /**
     * Where requests are charged.
     *
     * @param stage of the rules; {@code null} for all rules
     * @param named the policies that a route names, which are charged there; {@code null} for those of the stage
     * @param afterGuess whether only what earlier stages have left is charged
     * @param answered whether the request has been answered before, so that it can neither wait nor be refused
     */
    record Place(@Nullable Stage stage, @Nullable List<String> named, boolean afterGuess, boolean answered) {

        static Place at(@Nullable Stage stage) {
            return new Place(stage, null, false, false);
        }
    }

    private final Place place;

    /** Whether stores may block the calling thread. */
    private final boolean blocking;

    /** Whether the endpoint of each request must be known, whatever the rules read. */
    private final boolean readsEndpoints;

    /**
     * Charges requests to all rules at once.
     *
     * @param rules the rules that apply
     * @param properties which headers and responses callers get
     * @param waiting decides, now or after waiting
     * @param outcomes counts outcomes
     * @param ticker the clock for messages
     * @param handler writes refusals; {@code null} for problem details
     */
    public RequestLimiter(
            RequestRules rules,
            RateLimitProperties properties,
            WaitingRequests waiting,
            OutcomeCounter outcomes,
            Ticker ticker,
            @Nullable RejectionHandler handler) {
        this(
                rules,
                waiting,
                new OutcomeLog(outcomes, ticker, waiting.scheduler()),
                RefusalWriter.of(properties, handler),
                Place.at(null),
                true);
    }

    private RequestLimiter(
            RequestRules rules,
            WaitingRequests waiting,
            OutcomeCounter outcomes,
            RefusalWriter refusals,
            Place place,
            boolean blocking) {
        this.rules = rules;
        this.waiting = waiting;
        this.outcomes = outcomes;
        this.refusals = refusals;
        this.place = place;
        this.blocking = blocking;
        this.readsEndpoints = outcomes.readsEndpoints();
    }

    /** Returns a limiter with the same rules that charges only those before Spring Security. */
    public RequestLimiter beforeSecurity() {
        return new RequestLimiter(rules, waiting, outcomes, refusals, Place.at(Stage.BEFORE_SECURITY), blocking);
    }

    /** Returns a limiter with the same rules that charges only those after Spring Security. */
    public RequestLimiter afterSecurity() {
        return new RequestLimiter(rules, waiting, outcomes, refusals, Place.at(Stage.AFTER_SECURITY), blocking);
    }

    /**
     * Returns a limiter with the same rules that charges only what depends on the endpoint, and was left by all stages because they
     * could only guess it.
     */
    public RequestLimiter afterGuess() {
        return new RequestLimiter(rules, waiting, outcomes, refusals, new Place(null, null, true, false), blocking);
    }

    /**
     * Like {@link #afterGuess}, for requests that somebody has answered before the endpoint was known: they do not wait, and a limit
     * that would refuse them charges nothing and lets others keep what they have charged.
     */
    public RequestLimiter afterAnswer() {
        return new RequestLimiter(rules, waiting, outcomes, refusals, new Place(null, null, true, true), blocking);
    }

    /**
     * Returns a limiter with the same rules that charges only the policies that a route names: each of them once, whatever
     * its paths, methods and stage, unless an earlier stage has met it. What earlier stages have charged is refunded if one
     * of them refuses. The request stays uncounted, as after earlier stages if the {@linkplain EndpointResolver#haveRoutes
     * web stack has routes}: {@link ChargedRequest#countAdmitted} counts it when no other filter can refuse it.
     *
     * @param route its id
     * @param policies their names
     * @throws RateLimitConfigurationException if there is no such policy; from now on, also when policies change
     */
    public RequestLimiter forRoute(String route, List<String> policies) {
        rules.nameAtRoute(route, policies);
        List<String> named = policies.stream().distinct().toList();
        return new RequestLimiter(rules, waiting, outcomes, refusals, new Place(null, named, false, false), blocking);
    }

    /**
     * Replaces the routes by others, so that those that are gone no longer keep the policies that they have named.
     *
     * @param routes the names of policies, by the id of the route
     */
    public void replaceRoutes(Map<String, Set<String>> routes) {
        rules.replaceRoutes(routes);
    }

    /**
     * Returns a limiter with the same rules that never blocks the calling thread. Requests then wait for the answer of a
     * store that does not answer at once, as others do for their permits: whenever a request
     * {@linkplain ChargedRequest#isWaiting waits}, it is to be charged again when its wait is
     * {@linkplain ChargedRequest#whenOver over}, perhaps several times. Refunds are sent, and nobody waits for them.
     */
    public RequestLimiter withoutBlocking() {
        return new RequestLimiter(rules, waiting, outcomes, refusals, place, false);
    }

    /**
     * Whether the request is a CORS preflight that is not charged, because the browser sends it and not the caller.
     * Preflights that may carry a credential are charged.
     */
    public boolean isFreePreflight(WebRequest request) {
        return rules.inForce().isFreePreflight(request);
    }

    /**
     * Whether the request is a CORS preflight whose charge is to be refunded if it succeeds: all that may be a credential
     * is its query, which browsers send with it. Other credentials they never send.
     */
    public boolean isRefundedPreflight(WebRequest request) {
        return rules.inForce().isPreflightOfBrowser(request);
    }

    /** Charges a request at this stage. It does not wait for permits: see {@link #charge(ChargedRequest, WebRequest, boolean)}. */
    public ChargedRequest charge(@Nullable ChargedRequest before, WebRequest request) {
        return charge(before, request, false);
    }

    /**
     * Charges a request at this stage.
     *
     * @param before the result of the stage before, or of this stage if the request has waited; {@code null} at the first
     *     stage
     * @param canWait whether the request may wait for permits, or for its refusal, without its thread
     * @return the request: admitted, refused or waiting
     */
    public ChargedRequest charge(@Nullable ChargedRequest before, WebRequest request, boolean canWait) {
        ChargedRequest charged = before;
        if (charged == null) {
            charged = new ChargedRequest(rules.inForce(), request, outcomes, refusals);
        } else {
            charged.enter(charged.context().at(request));
        }
        try {
            chargeAtStage(charged, canWait && !place.answered());
        } catch (RuntimeException | Error e) {
            // the web stack may not know the request yet, and what it has waited for may be there
            charged.leave();
            charged.release();
            throw e;
        }
        return charged;
    }

    private void chargeAtStage(ChargedRequest charged, boolean canWait) {
        if (charged.isWaitingAt(place)) {
            charged.endWait();
            return;
        }
        if (readsEndpoints) {
            // now, as the request may be gone when it is counted
            Endpoint unused = charged.context().endpoint();
        }
        StageCharges charges = applyRules(charged);
        boolean mayWait = canWait && charges.rules().mayWait();
        if (!blocking) {
            chargeAsync(charged, charges.withoutBlocking(), canWait);
        } else if (mayWait) {
            await(charged, charges, waiting.acquire(charges));
        } else {
            decided(charged, charges, charges.charge(), canWait);
        }
    }

    private StageCharges applyRules(ChargedRequest charged) {
        if (place.named() != null) {
            return charged.rules().applyNamed(charged.context(), charged.notMet(place.named()), store());
        }
        return place.afterGuess()
                ? charged.rules().applyLeft(charged.context(), store())
                : charged.rules().applyTo(charged.context(), place.stage(), store());
    }

    private RateLimitStore store() {
        return blocking ? waiting.store() : waiting.storeWithoutBlocking();
    }

    /** Asks the store without blocking, and lets requests wait for permits only after that, as they then may block. */
    private void chargeAsync(ChargedRequest charged, StageCharges charges, boolean canWait) {
        if (charges.answer().isDenied()) {
            decided(charged, charges, false, canWait);
            return;
        }
        boolean mayWait = canWait && charges.rules().mayWait();
        if (mayWait && waiting.areAheadOf(charges)) {
            await(charged, charges, waiting.acquireAsync(charges));
            return;
        }
        CompletableFuture<@Nullable Decision> answer = charges.answer().askAsync();
        charged.goOn(place, charges, answer, () -> {
            boolean admitted = charges.answer().isAdmitted(answer);
            if (!admitted && mayWait && charges.answer().unavailable() == null) {
                await(charged, charges, waiting.acquireAsync(charges));
            } else {
                decided(charged, charges, admitted, canWait);
            }
        });
    }

    /** Lets a request wait for its permits, unless it has them already. */
    private void await(ChargedRequest charged, StageCharges charges, CompletableFuture<Decision> attempts) {
        if (!attempts.isDone()) {
            charges.beginWait(waiting.ticker());
        }
        charged.goOn(
                place,
                charges,
                attempts,
                () -> decided(charged, charges, charges.answer().finish(attempts), true));
    }

    /** Lets the request pass or refuses it, perhaps a while later. */
    private void decided(ChargedRequest charged, StageCharges charges, boolean admitted, boolean canWait) {
        boolean heldBack = canWait && !admitted && !charges.hasWaited();
        CompletableFuture<Boolean> delay = heldBack ? waiting.holdBack(charges) : null;
        if (delay != null) {
            charges.delay();
        }
        CompletableFuture<?> shown =
                place.answered() ? charged.passAnswered(charges, admitted) : charged.pass(charges, admitted);
        if (delay != null) {
            charged.goOn(place, charges, delay, () -> refuseLate(charged, charges, shown));
        } else if (!admitted && charges.hasWaited()) {
            refuseLate(charged, charges, shown);
        } else if (!shown.isDone()) {
            charged.goOn(place, charges, shown, () -> {});
        }
    }

    /** Shows the limits as they are when the request is refused. */
    private void refuseLate(ChargedRequest charged, StageCharges charges, CompletableFuture<?> shown) {
        charged.goOn(place, charges, charges.refresh(), () -> charged.goOn(place, charges, shown, () -> {}));
    }

    /** What the rules of this stage, and what counts their outcomes, read of requests. */
    public Reads reads() {
        return readsEndpoints ? readsOfRules().and(ENDPOINT) : readsOfRules();
    }

    private Reads readsOfRules() {
        return place.named() == null
                ? rules.inForce().reads(place.stage())
                : rules.inForce().reads(place.named());
    }

    /** Whether a rule of this stage, or what counts their outcomes, may depend on where a request leads. */
    public boolean readsEndpoint() {
        return readsEndpoints || readsOfRules().includeEndpoint();
    }

    /**
     * What a web stack has to fetch for the rules of this stage that apply to the path and the method of this request,
     * unless it has that at once.
     *
     * @param before as for {@link #charge}
     */
    public Reads toFetch(@Nullable ChargedRequest before, WebRequest request) {
        RulesInForce now = before == null ? rules.inForce() : before.rules();
        RequestContext context =
                before == null ? now.context(request) : before.context().at(request);
        return place.named() == null ? now.toFetch(context, place.stage()) : now.toFetch(context, place.named());
    }

    /** Whether requests can wait, so that a web stack must not answer them before. */
    public boolean letsRequestsWait() {
        return !blocking || waiting.arePossible();
    }

    /** Whether the request waits at this stage, or waited here when its client left. */
    public boolean hasWaiting(@Nullable ChargedRequest charged) {
        return charged != null && charged.isWaitingAt(place);
    }

    /** Returns a limiter of method calls, with the same rules; one that does not block for calls that do not, either. */
    public CallLimiter calls() {
        return new CallLimiter(rules, store(), outcomes, refusals);
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
