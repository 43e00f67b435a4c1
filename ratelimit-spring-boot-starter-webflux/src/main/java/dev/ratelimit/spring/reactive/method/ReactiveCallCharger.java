package dev.ratelimit.spring.reactive.method;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.boot.method.CallCharger;
import dev.ratelimit.spring.boot.method.CallTarget;
import dev.ratelimit.spring.reactive.filter.Passage;
import dev.ratelimit.spring.reactive.request.CurrentCaller;
import dev.ratelimit.spring.reactive.request.CurrentExchange;
import dev.ratelimit.spring.reactive.request.CurrentObservation;
import dev.ratelimit.spring.reactive.request.EventLoop;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.reactive.request.FatalErrors;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.reactive.request.ReactiveWebResponse;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import io.micrometer.observation.Observation;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

/**
 * Charges calls of methods that return a {@code Mono} or a {@code Flux}, each time somebody subscribes: to the caller of
 * the exchange that the reactive chain belongs to or, outside of exchanges, to that of the security context. Calls of
 * other methods know neither. Thread-safe.
 */
public final class ReactiveCallCharger implements CallCharger {

    private final CallLimiter limiter;
    private final FactsFetcher fetcher;

    /** Whether decisions may block a thread. */
    private final BooleanSupplier blocks;

    /**
     * Creates the charger.
     *
     * @param blocks whether decisions may block a thread
     */
    public ReactiveCallCharger(CallLimiter limiter, FactsFetcher fetcher, BooleanSupplier blocks) {
        this.limiter = limiter;
        this.fetcher = fetcher;
        this.blocks = blocks;
    }

    /** Whether calls with such a result are charged when somebody subscribes to it, and end with it. */
    public static boolean isLater(Class<?> result) {
        return result == Mono.class || result == Flux.class;
    }

    /** Whether calls of the method are charged when somebody subscribes to its result, and end with it. */
    public static boolean isLater(Method method) {
        return isLater(resultOf(method));
    }

    /** A Kotlin function that suspends returns a {@code Mono} to those who call it by a proxy, and a {@code Flux} for a flow. */
    private static Class<?> resultOf(Method method) {
        if (!KotlinDetector.isSuspendingFunction(method)) {
            return method.getReturnType();
        }
        Class<?> declared = new MethodParameter(method, -1).getParameterType();
        return declared.getName().equals("kotlinx.coroutines.flow.Flow") ? Flux.class : Mono.class;
    }

    @Override
    public CallLimiter.@Nullable Call call(CallTarget target, @Nullable Object[] arguments) {
        return limiter.call(target.type(), target.method(), arguments);
    }

    @Override
    public void charge(CallLimiter.Call call, CallTarget target) {
        if (Schedulers.isInNonBlockingThread() && blocks.getAsBoolean()) {
            throw new IllegalStateException("calls of " + target.type().getSimpleName() + "."
                    + target.method().getName()
                    + "() cannot be limited on a thread that must not block; let the method return a Mono or a Flux");
        }
        call.chargeOutside();
    }

    @Override
    public @Nullable Object later(MethodInvocation invocation, CallTarget target) {
        Class<?> type = resultOf(target.method());
        if (type == Mono.class) {
            return Mono.deferContextual(
                    context -> subscribe(invocation, target, context).singleOrEmpty());
        }
        return type == Flux.class ? Flux.deferContextual(context -> subscribe(invocation, target, context)) : null;
    }

    private Flux<Object> subscribe(MethodInvocation invocation, CallTarget target, ContextView context) {
        MethodInvocation own = ((ProxyMethodInvocation) invocation).invocableClone();
        CallLimiter.Call call = call(target, own.getArguments());
        if (call == null) {
            return proceed(own);
        }
        return charge(call, target, context)
                .onErrorResume(RateLimitExceededException.class, refusal -> Mono.error(new Refused(refusal)))
                .thenMany(FatalErrors.tell(Flux.defer(() -> proceed(own)), fatal -> call.end()))
                .doFinally(ending -> call.end())
                .onErrorResume(Refused.class, refused -> fallBack(call, own.getThis(), refused.refusal));
    }

    /** The call itself is refused, and not another one that its method makes. */
    private static final class Refused extends RuntimeException {

        private static final long serialVersionUID = 1;

        private final transient RateLimitExceededException refusal;

        Refused(RateLimitExceededException refusal) {
            super(null, refusal, false, false);
            this.refusal = refusal;
        }
    }

    private static Flux<Object> proceed(MethodInvocation invocation) {
        try {
            return publisher(invocation.proceed());
        } catch (Throwable e) {
            return Flux.error(e);
        }
    }

    private static Publisher<Object> fallBack(
            CallLimiter.Call call, @Nullable Object target, RateLimitExceededException refusal) {
        try {
            return publisher(call.fallBack(target, refusal));
        } catch (Throwable e) {
            return Flux.error(e);
        }
    }

    @SuppressWarnings("unchecked") // the method returns one
    private static Flux<Object> publisher(@Nullable Object result) {
        return result == null ? Flux.empty() : Flux.from((Publisher<Object>) result);
    }

    private Mono<?> charge(CallLimiter.Call call, CallTarget target, ContextView context) {
        ServerWebExchange exchange = CurrentExchange.of(context);
        Observation observation = CurrentObservation.of(context);
        if (exchange == null) {
            return CurrentCaller.find()
                    .flatMap(caller -> afterWait(
                            null,
                            CurrentObservation.note(observation, () -> call.chargeOutsideAsync(caller.orElse(null)))));
        }
        return fetcher.fetch(ReactiveWebRequest.of(exchange), call.reads())
                .flatMap(request -> charge(call, target, request, observation));
    }

    private static Mono<?> charge(
            CallLimiter.Call call, CallTarget target, ReactiveWebRequest request, @Nullable Observation observation) {
        ServerWebExchange exchange = request.exchange();
        Passage passage = Passage.of(exchange);
        ChargedRequest charged = passage == null ? null : passage.charged();
        if (charged == null || !charged.callFollows() || !isHandledBy(target, exchange)) {
            return afterWait(
                    exchange, CurrentObservation.note(observation, () -> call.chargeWithinAsync(request, charged)));
        }
        return afterWait(
                        exchange,
                        CurrentObservation.note(observation, () -> call.chargeAsPartOfAsync(charged, request)))
                .then(Mono.fromRunnable(() -> show(call, charged, exchange)));
    }

    private static Mono<Void> afterWait(@Nullable ServerWebExchange exchange, CompletableFuture<?> charged) {
        return charged.isDone() ? later(charged) : later(charged).then(EventLoop.afterWait(exchange));
    }

    /** Fails with a value, because Reactor logs errors of subscribers that have gone, as they do while a store is slow. */
    private static Mono<Void> later(CompletableFuture<?> charged) {
        return Mono.fromFuture(charged.handle((done, failure) -> Optional.ofNullable(failure)), true)
                .flatMap(failure ->
                        failure.<Mono<Void>>map(ReactiveCallCharger::failed).orElse(Mono.empty()));
    }

    private static Mono<Void> failed(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return Mono.error(cause == null ? failure : cause);
    }

    private static void show(CallLimiter.Call call, ChargedRequest charged, ServerWebExchange exchange) {
        Reservation reservation = charged.reservation();
        if (reservation != null) {
            exchange.getAttributes().put(Reservation.class.getName(), reservation);
            call.passOn(reservation);
        }
        if (!exchange.getResponse().isCommitted()) {
            charged.writeHeaders(new ReactiveWebResponse(exchange));
        }
    }

    private static boolean isHandledBy(CallTarget target, ServerWebExchange exchange) {
        return exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
                && handler.getMethod().equals(target.method());
    }
}
