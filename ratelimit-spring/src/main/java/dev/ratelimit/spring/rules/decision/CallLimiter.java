package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.request.NoRequest;
import dev.ratelimit.spring.rules.request.Reads;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.CallRules;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.IOException;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Charges calls of methods with {@link RateLimited} to all limits of the method, or to none. Calls of a controller's
 * handler belong to the request: if they are refused, the request gets back what it was charged before. Thread-safe.
 */
public final class CallLimiter {

    private final RequestRules rules;
    private final RateLimitStore store;
    private final OutcomeCounter outcomes;
    private final RefusalWriter refusals;

    CallLimiter(RequestRules rules, RateLimitStore store, OutcomeCounter outcomes, RefusalWriter refusals) {
        this.rules = rules;
        this.store = store;
        this.outcomes = outcomes;
        this.refusals = refusals;
    }

    /**
     * Returns a call of a method.
     *
     * @param arguments those that the method will get
     * @return {@code null} if calls of the method are not limited
     */
    public @Nullable Call call(Class<?> type, Method method, @Nullable Object[] arguments) {
        RulesInForce now = rules.inForce();
        CallRules called = now.byMethod().of(type, method);
        return called.areNone() ? null : new Call(now, called, type, method, arguments);
    }

    /**
     * Answers a request whose handler has thrown this exception.
     *
     * @param charged what the request was charged; {@code null} if it was not
     * @param response not committed yet
     * @throws IOException if the response cannot be written
     */
    public void writeRefusal(
            RateLimitExceededException refusal,
            @Nullable ChargedRequest charged,
            WebRequest request,
            WebResponse response)
            throws IOException {
        refusals.write(refusal, charged, request, response);
    }

    /**
     * Sets the status and the limits of such an answer, which the application writes itself.
     *
     * @param charged what the request was charged; {@code null} if it was not
     * @param response not committed yet
     */
    public void prepareRefusal(
            RateLimitExceededException refusal, @Nullable ChargedRequest charged, WebResponse response) {
        refusals.prepare(refusal, charged, response);
    }

    /** A call of a method. Used by one thread. */
    public final class Call {

        private RulesInForce now;
        private CallRules called;
        private final Class<?> type;
        private final Method method;
        private final @Nullable Object[] arguments;

        /** What the call itself was charged, not as a part of a request. */
        private @Nullable StageCharges charged;

        private Call(RulesInForce now, CallRules called, Class<?> type, Method method, @Nullable Object[] arguments) {
            this.now = now;
            this.called = called;
            this.type = type;
            this.method = method;
            this.arguments = arguments;
        }

        /**
         * Charges the call of a request's handler as a part of the request.
         *
         * @throws RateLimitExceededException if a limit refuses it
         */
        public void chargeAsPartOf(ChargedRequest charged, WebRequest request) {
            now = charged.rules();
            called = now.byMethod().of(type, method);
            RequestContext context = charged.context().at(request);
            context.call(called.parameters(), arguments);
            StageCharges charges = now.applyTo(called, context, store);
            if (!charged.chargeCall(context, charges, called.fallback() != null)) {
                throw new RefusedCall(refusals.refusal(charges), charged, charged.stages(), context);
            }
        }

        /** What the limits of the method read of the request, and of the call. */
        public Reads reads() {
            return called.rules().stream().map(Rule::reads).reduce(Reads.NOTHING, Reads::and);
        }

        /** Gives the method this reservation instead of the one that was made before the call was charged. */
        public void passOn(Reservation reservation) {
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i] instanceof Reservation) {
                    arguments[i] = reservation;
                }
            }
        }

        /**
         * Charges the call within a request, which stays charged if the call is refused.
         *
         * @param charged what the request was charged; {@code null} if it was not
         * @throws RateLimitExceededException if a limit refuses it
         */
        public void chargeWithin(WebRequest request, @Nullable ChargedRequest charged) {
            charge(request, charged);
        }

        /**
         * Charges the call outside of requests; the caller is that of Spring Security's context, if there is one.
         *
         * @throws RateLimitExceededException if a limit refuses it
         */
        public void chargeOutside() {
            chargeOutside(CurrentCaller.principal());
        }

        /**
         * Charges the call outside of requests.
         *
         * @param caller {@code null} if it is not known
         * @throws RateLimitExceededException if a limit refuses it
         */
        public void chargeOutside(@Nullable Principal caller) {
            charge(new NoRequest(caller), null);
        }

        private void charge(WebRequest request, @Nullable ChargedRequest within) {
            RequestContext context = now.context(request);
            if (called.endpoint() != null) {
                context.enter(called.endpoint());
            }
            context.call(called.parameters(), arguments);
            StageCharges charges = now.applyTo(called, context, store);
            if (!charges.charge()) {
                charges.countRefused(outcomes);
                List<StageCharges> stages = new ArrayList<>(within == null ? List.of() : within.stages());
                stages.add(charges);
                throw new RefusedCall(refusals.refusal(charges), within, stages, context);
            }
            charged = charges;
            try {
                charges.countAdmitted(outcomes);
            } catch (RuntimeException | Error e) {
                end();
                throw e;
            }
        }

        /** Whether the call holds permits until it {@linkplain #end ends}. */
        public boolean holds() {
            return charged != null && charged.holds();
        }

        /** Returns the permits that the call holds. Idempotent; may be called by any thread. */
        public void end() {
            if (charged != null) {
                charged.release();
            }
        }

        /**
         * Calls the method that replaces a refused one.
         *
         * @param target the object that was called
         * @throws Throwable what the method throws; the refusal if there is no such method
         */
        public @Nullable Object fallBack(@Nullable Object target, RateLimitExceededException refusal) throws Throwable {
            if (called.fallback() == null) {
                throw refusal;
            }
            return called.fallback().invoke(target, arguments, refusal);
        }
    }
}
