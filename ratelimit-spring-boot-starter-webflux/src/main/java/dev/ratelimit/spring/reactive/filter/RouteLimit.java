package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.WebResponse;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.decision.ChargedRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Charges the policies that a route names, after the filters. A request is charged to each of them once. Thread-safe. */
public final class RouteLimit {

    /**
     * What somebody else is to answer.
     *
     * @param admitted whether the request may go on
     * @param headers that show the caller its budgets and, if it is refused, when to retry
     */
    public record Answer(boolean admitted, Map<String, String> headers) {}

    private final RateLimitStage stage;

    RouteLimit(RateLimitStage stage) {
        this.stage = stage;
    }

    /** Charges a request; if it is admitted, the rest follows, otherwise it is answered. */
    public <T> Mono<T> charge(ReactiveWebRequest request, Function<ServerWebExchange, Mono<T>> rest) {
        Passage passage = Passage.of(request.exchange());
        if (passage == null) {
            Passage.requireLeftOut(request.exchange());
            return rest.apply(request.exchange());
        }
        // a circuit breaker goes on with its fallback
        passage.goOnIfGivenUp();
        // a filter of the route may try again what has been refused
        return passage.isRefused() ? Mono.empty() : stage.charge(passage, request, rest);
    }

    /**
     * Charges a request by this caller in place of its principal, and lets somebody else answer it.
     */
    public Mono<Answer> charge(ReactiveWebRequest request, String caller) {
        Passage passage = Passage.of(request.exchange());
        if (passage == null) {
            Passage.requireLeftOut(request.exchange());
            return Mono.just(new Answer(true, Map.of()));
        }
        return stage.charge(passage, request, caller)
                .map(charged -> answer(
                        passage, charged, request.exchange().getResponse().getHeaders()));
    }

    /** Moves the headers that show the budgets from the response to the answer, which adds them again. */
    private static Answer answer(Passage passage, ChargedRequest charged, HttpHeaders sent) {
        Map<String, String> headers = new LinkedHashMap<>();
        WebResponse collecting = new CollectedHeaders(headers);
        if (charged.isRefused()) {
            try {
                charged.writeRefusal(collecting);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        } else {
            passage.show(charged.writeHeaders(collecting));
        }
        headers.keySet().forEach(sent::remove);
        return new Answer(!charged.isRefused(), headers);
    }

    /** A response of which only the headers are kept. */
    private record CollectedHeaders(Map<String, String> headers) implements WebResponse {

        @Override
        public void setStatus(int status) {}

        @Override
        public void setHeader(String name, @Nullable String value) {
            if (value == null) {
                headers.remove(name);
            } else {
                headers.put(name, value);
            }
        }

        @Override
        public void write(String contentType, String body) {}

        @Override
        public <T> @Nullable T unwrap(Class<T> type) {
            return null;
        }
    }
}
