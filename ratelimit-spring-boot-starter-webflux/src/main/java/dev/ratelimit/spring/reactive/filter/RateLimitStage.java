package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.reactive.endpoint.Endpoints;
import dev.ratelimit.spring.reactive.endpoint.Found;
import dev.ratelimit.spring.reactive.request.CurrentExchange;
import dev.ratelimit.spring.reactive.request.EventLoop;
import dev.ratelimit.spring.reactive.request.FactsFetcher;
import dev.ratelimit.spring.reactive.request.FatalErrors;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.reactive.request.ReactiveWebResponse;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.Reads;
import java.io.IOException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.observation.ServerRequestObservationContext;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Mono;

/** Charges exchanges to the rules of one stage, and lets them go on, wait or be refused. Thread-safe. */
final class RateLimitStage {

    private final RequestLimiter limiter;
    private final Supplier<Endpoints> endpoints;
    private final FactsFetcher fetcher;
    private final CorsHeaders cors;

    RateLimitStage(RequestLimiter limiter, Supplier<Endpoints> endpoints, FactsFetcher fetcher, CorsHeaders cors) {
        this.limiter = limiter;
        this.endpoints = endpoints;
        this.fetcher = fetcher;
        this.cors = cors;
    }

    /** Where what this stage leaves is charged, because it could only guess the endpoint. */
    RateLimitStage afterGuess() {
        return new RateLimitStage(limiter.afterGuess(), endpoints, fetcher, cors);
    }

    /** Where that is charged if somebody has answered before. */
    RateLimitStage afterAnswer() {
        return new RateLimitStage(limiter.afterAnswer(), endpoints, fetcher, cors);
    }

    /** Whether the request is a preflight that is not charged. */
    boolean isFreePreflight(ReactiveWebRequest request) {
        return limiter.isFreePreflight(request);
    }

    /** Whether the request is a preflight that is refunded if it succeeds. */
    boolean isRefundedPreflight(ReactiveWebRequest request) {
        return limiter.isRefundedPreflight(request);
    }

    /**
     * Where the request leads, if a rule of the stage may depend on it, or one that the stage before could not charge.
     *
     * @return {@code null} if no rule does
     */
    @Nullable
    Found find(ReactiveWebRequest request, @Nullable ChargedRequest before) {
        Endpoints known = endpoints.get();
        boolean guessed = before != null && before.context().isGuess();
        return guessed
                        || limiter.readsEndpoint()
                        || known.mayLeadToAnnotated(request)
                        || known.mayLeadToManagement(request)
                ? known.find(request.exchange())
                : null;
    }

    /** The endpoint of a request before WebFlux finds it: a file, or the best guess. */
    Mono<Endpoint> guess(ServerWebExchange exchange, Found found) {
        return endpoints.get().guess(exchange, found);
    }

    /** The endpoint of the handler that WebFlux has found. */
    Mono<Endpoint> endpointOf(ServerWebExchange exchange, Object handler) {
        return endpoints.get().endpointOf(exchange, handler);
    }

    /** The endpoint that a request misses, if WebFlux finds no handler. */
    Endpoint closestTo(ServerWebExchange exchange) {
        return endpoints.get().closestTo(exchange);
    }

    /** Charges a request; if it is admitted, now or after a wait, the rest follows with the exchange as it is then. */
    <T> Mono<T> charge(Passage passage, ReactiveWebRequest request, Function<ServerWebExchange, Mono<T>> rest) {
        Reads reads = limiter.toFetch(passage.charged(), request);
        if (reads.areNone() && EventLoop.isCurrent(request.exchange())) {
            return decide(passage, request, charged -> answer(passage, charged, request, rest));
        }
        return onLoop(fetcher.fetchAll(request, reads), request)
                .flatMap(fetched -> decide(passage, fetched, charged -> answer(passage, charged, fetched, rest)));
    }

    /** The session, for example, is found on another thread. */
    private static Mono<ReactiveWebRequest> onLoop(Mono<ReactiveWebRequest> fetched, ReactiveWebRequest request) {
        return fetched.delayUntil(same -> EventLoop.current(request.exchange()));
    }

    /** Goes on when the request is admitted or refused: at once, unless it has to wait. */
    private <T> Mono<T> decide(Passage passage, ReactiveWebRequest request, Function<ChargedRequest, Mono<T>> next) {
        ChargedRequest charged = passage.note(() -> limiter.charge(passage.charged(), request, true));
        passage.keep(charged);
        return charged.isWaiting()
                ? whenOver(charged)
                        .then(EventLoop.afterWait(request.exchange()))
                        .then(Mono.defer(() -> decide(passage, request, next)))
                : next.apply(charged);
    }

    private <T> Mono<T> answer(
            Passage passage,
            ChargedRequest charged,
            ReactiveWebRequest request,
            Function<ServerWebExchange, Mono<T>> rest) {
        return charged.isRefused()
                ? EventLoop.nextTurn(request.exchange())
                        .then(Mono.defer(() -> refuse(charged, request)))
                        .then(Mono.empty())
                : goOn(passage, charged, request, rest);
    }

    private static <T> Mono<T> goOn(
            Passage passage,
            ChargedRequest charged,
            ReactiveWebRequest request,
            Function<ServerWebExchange, Mono<T>> rest) {
        admit(passage, charged, request.exchange());
        if (request.failure() != null) {
            return Mono.error(request.failure());
        }
        ServerWebExchange exchange = passage.watch(request.exchange());
        return FatalErrors.tell(Mono.defer(() -> rest.apply(exchange)), passage::fail)
                .contextWrite(context -> CurrentExchange.put(context, exchange));
    }

    /** Completes when a wait is over; a client that leaves meanwhile gets nothing. */
    private static Mono<Void> whenOver(ChargedRequest charged) {
        return Mono.create(sink -> {
            sink.onCancel(charged::leave);
            charged.whenOver(sink::success);
        });
    }

    private Mono<Void> refuse(ChargedRequest charged, ReactiveWebRequest request) {
        ServerWebExchange exchange = request.exchange();
        observe(exchange, request.endpoint());
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        return cors.write(exchange).then(Mono.defer(() -> {
            ReactiveWebResponse response = new ReactiveWebResponse(exchange);
            try {
                charged.writeRefusal(response);
            } catch (IOException e) {
                return Mono.error(e);
            }
            return response.send();
        }));
    }

    /** As a mapping does: refused requests are observed under their pattern, and not as unknown. */
    private static void observe(ServerWebExchange exchange, @Nullable Endpoint endpoint) {
        PathPattern pattern = endpoint == null ? null : endpoint.pattern();
        if (pattern != null) {
            ServerRequestObservationContext.findCurrent(exchange.getAttributes())
                    .ifPresent(observed -> observed.setPathPattern(pattern.getPatternString()));
        }
    }

    private static void admit(Passage passage, ChargedRequest charged, ServerWebExchange exchange) {
        keepReservation(charged, exchange);
        if (!exchange.getResponse().isCommitted()) {
            passage.show(charged.writeHeaders(new ReactiveWebResponse(exchange)));
        }
    }

    private static void keepReservation(ChargedRequest charged, ServerWebExchange exchange) {
        Reservation reservation = charged.reservation();
        if (reservation != null) {
            exchange.getAttributes().put(Reservation.class.getName(), reservation);
        }
    }
}
