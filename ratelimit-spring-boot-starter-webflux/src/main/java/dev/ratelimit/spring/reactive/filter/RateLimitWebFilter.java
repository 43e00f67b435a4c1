package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.endpoint.Found;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpMethod;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Charges each request to all rules that apply to it, or to none, and refuses it if one of them does, or lets it wait
 * without a thread. An exchange is charged once, however often it is dispatched, unless a filter in front hands it on again when
 * it has ended; a refused one goes nowhere. With Spring Security, there are two, with the rules of one stage each.
 */
public final class RateLimitWebFilter implements WebFilter, Ordered {

    private final int order;
    private final String name;
    private final RateLimitStage stage;

    /** Where the handler is known that WebFlux looks for next; {@code null} if another filter comes first. */
    private final @Nullable RateLimitStage afterGuess;

    /** The actuator's own port has another, and no limits. */
    private final ApplicationContext context;

    private final @Nullable RequestRecording recording;

    RateLimitWebFilter(
            int order,
            RateLimitStage stage,
            boolean last,
            ApplicationContext context,
            @Nullable RequestRecording recording) {
        this.order = order;
        this.name = RateLimitWebFilter.class.getName() + "." + order;
        this.stage = stage;
        this.afterGuess = last ? stage.afterGuess() : null;
        this.context = context;
        this.recording = recording;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        Passage before = Passage.of(exchange);
        if (before != null && before.isOver()) {
            before = null;
        }
        if (before != null && before == exchange.getAttribute(name)) {
            return before.isAdmitted() ? chain.filter(exchange) : Mono.empty();
        }
        ReactiveWebRequest request = ReactiveWebRequest.of(exchange);
        boolean preflight = HttpMethod.OPTIONS.equals(exchange.getRequest().getMethod());
        if (isOther(exchange) || (preflight && stage.isFreePreflight(request))) {
            Passage.leaveOut(exchange);
            return chain.filter(exchange);
        }
        if (before != null) {
            exchange.getAttributes().put(name, before);
            return pass(before, request, chain);
        }
        Passage passage = Passage.begin(exchange, recording);
        exchange.getAttributes().put(name, passage);
        if (preflight && stage.isRefundedPreflight(request)) {
            passage.refundIfSuccessful();
        }
        return Mono.deferContextual(context -> {
                    passage.observe(context);
                    return pass(passage, request, chain);
                })
                // before anybody answers the error, and before the next request
                .doOnError(passage::fail)
                .doOnSuccess(done -> passage.complete())
                .doOnCancel(passage::cancel);
    }

    private boolean isOther(ServerWebExchange exchange) {
        ApplicationContext server = exchange.getApplicationContext();
        return server != null && server != context;
    }

    private Mono<Void> pass(Passage passage, ReactiveWebRequest request, WebFilterChain chain) {
        Found found = stage.find(request, passage.charged());
        if (found == null) {
            return stage.charge(passage, request, chain::filter);
        }
        if (found.certain()) {
            return stage.charge(passage, request.leadingTo(found.endpoint()), chain::filter);
        }
        RateLimitStage awaiting = afterGuess;
        Function<ServerWebExchange, Mono<Void>> rest = awaiting == null
                ? chain::filter
                : same -> AwaitedHandler.await(awaiting, passage, request.at(same), chain);
        return stage.guess(request.exchange(), found)
                .flatMap(guess -> stage.charge(passage, request.perhapsLeadingTo(guess), rest));
    }
}
