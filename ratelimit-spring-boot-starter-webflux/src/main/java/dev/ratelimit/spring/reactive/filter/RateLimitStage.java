package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.Reservation;
import dev.ratelimit.spring.reactive.request.EventLoop;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.reactive.request.ReactiveWebResponse;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import java.io.IOException;
import java.util.function.Supplier;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Charges exchanges to the rules of one stage, and lets them go on, wait or be refused. Thread-safe. */
final class RateLimitStage {

    private final RequestLimiter limiter;

    RateLimitStage(RequestLimiter limiter) {
        this.limiter = limiter;
    }

    /** Charges a request; if it is admitted, now or after a wait, the rest follows. */
    <T> Mono<T> charge(Passage passage, ReactiveWebRequest request, Supplier<Mono<T>> rest) {
        ChargedRequest charged = limiter.charge(passage.charged(), request, true);
        passage.keep(charged);
        if (charged.isWaiting()) {
            return whenOver(charged)
                    .then(EventLoop.nextTurn(request.exchange()))
                    .then(Mono.defer(() -> charge(passage, request, rest)));
        }
        if (charged.isRefused()) {
            return EventLoop.nextTurn(request.exchange())
                    .then(Mono.defer(() -> refuse(charged, request.exchange())))
                    .then(Mono.empty());
        }
        admit(charged, request.exchange());
        return rest.get();
    }

    /** Completes when a wait is over; a client that leaves meanwhile gets nothing. */
    private static Mono<Void> whenOver(ChargedRequest charged) {
        return Mono.create(sink -> {
            sink.onCancel(charged::leave);
            charged.whenOver(sink::success);
        });
    }

    private Mono<Void> refuse(ChargedRequest charged, ServerWebExchange exchange) {
        if (exchange.getResponse().isCommitted()) {
            return Mono.empty();
        }
        ReactiveWebResponse response = new ReactiveWebResponse(exchange);
        try {
            charged.writeRefusal(response);
        } catch (IOException e) {
            return Mono.error(e);
        }
        return response.send();
    }

    private void admit(ChargedRequest charged, ServerWebExchange exchange) {
        Reservation reservation = charged.reservation();
        if (reservation != null) {
            exchange.getAttributes().put(Reservation.class.getName(), reservation);
        }
        charged.writeHeaders(new ReactiveWebResponse(exchange));
    }
}
