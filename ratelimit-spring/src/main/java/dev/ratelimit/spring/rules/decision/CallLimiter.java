package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Reservation;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.rules.request.CurrentCaller;
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
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
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

    /** A call of a method, charged once. Used by one thread; only {@link #end} may be called by another one meanwhile. */
    public final class Call {

        private RulesInForce now;
        private CallRules called;
        private final Class<?> type;
        private final Method method;
        private final @Nullable Object[] arguments;

        /** What the call itself was charged, not as a part of a request. */
        private @Nullable StageCharges charged;

        /** What the store has not answered yet. */
        private @Nullable CompletableFuture<?> pending;

        private boolean ended;

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
            StageCharges charges = applyTo(charged, request);
            boolean admitted = charges.charge();
            CompletableFuture<?> unused = charged.passCall(method, charges, admitted, called.fallback() != null);
            if (!admitted) {
                throw refused(charged, charges);
            }
        }

        /**
         * Charges the call of a request's handler as a part of the request, without blocking, unless the request has
         * {@linkplain ChargedRequest#expectCall repeated} it.
         *
         * @return completed when it is charged; exceptionally, with a {@link RateLimitExceededException}, if a limit refuses
         *     it
         */
        public CompletableFuture<@Nullable Void> chargeAsPartOfAsync(ChargedRequest charged, WebRequest request) {
            if (charged.passAgain(method)) {
                return CompletableFuture.completedFuture(null);
            }
            StageCharges charges = applyTo(charged, request).withoutBlocking();
            return decided(charges, admitted -> charged.passCall(method, charges, admitted, called.fallback() != null))
                    .thenAccept(admitted -> {
                        if (!admitted) {
                            throw refused(charged, charges);
                        }
                    });
        }

        private StageCharges applyTo(ChargedRequest charged, WebRequest request) {
            now = charged.rules();
            called = now.byMethod().of(type, method);
            RequestContext context = charged.context().at(request);
            context.call(called.parameters(), arguments);
            StageCharges charges = now.applyTo(called, context, store);
            charged.enterCall(context);
            return charges;
        }

        private RefusedCall refused(ChargedRequest charged, StageCharges charges) {
            return new RefusedCall(refusals.refusal(charges), charged, charged.stages(), charged.context());
        }

        /**
         * Asks the store without blocking.
         *
         * @param pass takes over the decision; completed when it has done so
         * @return whether the call is admitted
         */
        private CompletableFuture<Boolean> decided(StageCharges charges, Function<Boolean, CompletableFuture<?>> pass) {
            if (charges.answer().isDenied()) {
                return pass.apply(false).thenApply(done -> false);
            }
            CompletableFuture<@Nullable Decision> answer = charges.answer().askAsync();
            if (!begin(answer)) {
                answer.cancel(false);
            }
            return answer.handle((decision, failure) -> charges.answer().isAdmitted(answer))
                    .thenCompose(admitted -> pass.apply(admitted).thenApply(done -> admitted));
        }

        private synchronized boolean begin(CompletableFuture<?> answer) {
            pending = answer;
            return !ended;
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
            RequestContext context = enter(request);
            StageCharges charges = now.applyTo(called, context, store);
            pass(charges, charges.charge(), context, charged);
        }

        /**
         * Charges the call within a request, which stays charged if the call is refused, without blocking.
         *
         * @param charged what the request was charged; {@code null} if it was not
         * @return completed when it is charged; exceptionally, with a {@link RateLimitExceededException}, if a limit refuses
         *     it
         */
        public CompletableFuture<@Nullable Void> chargeWithinAsync(
                WebRequest request, @Nullable ChargedRequest charged) {
            RequestContext context = enter(request);
            StageCharges charges = now.applyTo(called, context, store).withoutBlocking();
            return decided(charges, admitted -> {
                        pass(charges, admitted, context, charged);
                        return StageCharges.DONE;
                    })
                    .thenAccept(admitted -> {});
        }

        /**
         * Charges the call outside of requests; the caller is that of Spring Security's context, if there is one.
         *
         * @throws RateLimitExceededException if a limit refuses it
         */
        public void chargeOutside() {
            chargeWithin(new NoRequest(CurrentCaller.principal()), null);
        }

        /**
         * Charges the call outside of requests, without blocking.
         *
         * @param caller {@code null} if there is none
         * @return completed when it is charged; exceptionally, with a {@link RateLimitExceededException}, if a limit refuses
         *     it
         */
        public CompletableFuture<@Nullable Void> chargeOutsideAsync(@Nullable Principal caller) {
            return chargeWithinAsync(new NoRequest(caller), null);
        }

        private RequestContext enter(WebRequest request) {
            RequestContext context = now.context(request);
            if (called.endpoint() != null) {
                context.enter(called.endpoint());
            }
            context.call(called.parameters(), arguments);
            return context;
        }

        private void pass(
                StageCharges charges, boolean admitted, RequestContext context, @Nullable ChargedRequest within) {
            if (!admitted) {
                charges.countRefused(outcomes, context);
                List<StageCharges> stages = new ArrayList<>(within == null ? List.of() : within.stages());
                stages.add(charges);
                throw new RefusedCall(refusals.refusal(charges), within, stages, context);
            }
            try {
                charges.countAdmitted(outcomes, context);
                charges.countHeld(outcomes);
            } catch (RuntimeException | Error e) {
                charges.release();
                throw e;
            }
            hold(charges);
        }

        /** Whether the call holds permits until it {@linkplain #end ends}. */
        public synchronized boolean holds() {
            return charged != null && charged.holds();
        }

        private void hold(StageCharges charges) {
            boolean late;
            synchronized (this) {
                charged = charges;
                late = ended;
            }
            if (late) {
                charges.release();
            }
        }

        /**
         * Returns the permits that the call holds; if it is not charged yet, it gets none. Idempotent; may be called by any
         * thread.
         */
        public void end() {
            CompletableFuture<?> asked;
            StageCharges held;
            synchronized (this) {
                ended = true;
                asked = pending;
                held = charged;
            }
            if (asked != null) {
                asked.cancel(false);
            }
            if (held != null) {
                held.release();
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
