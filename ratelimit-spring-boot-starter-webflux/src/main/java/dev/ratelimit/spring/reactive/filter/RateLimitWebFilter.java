package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.decision.RequestLimiter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpMethod;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Charges each request to all rules that apply to it, or to none, and refuses it if one of them does, or lets it wait
 * without a thread. Only the exchange itself is charged, not its forwards. With Spring Security, there are two, with the
 * rules of one stage each.
 */
public final class RateLimitWebFilter implements WebFilter, Ordered {

    private final int order;
    private final String name;
    private final RequestLimiter limiter;
    private final RateLimitStage stage;

    RateLimitWebFilter(int order, RequestLimiter limiter) {
        this.order = order;
        this.name = RateLimitWebFilter.class.getName() + "." + order;
        this.limiter = limiter;
        this.stage = new RateLimitStage(limiter);
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        ReactiveWebRequest request = ReactiveWebRequest.of(exchange);
        boolean preflight = exchange.getRequest().getMethod() == HttpMethod.OPTIONS;
        if (exchange.getAttributes().put(name, true) != null || (preflight && limiter.isFreePreflight(request))) {
            return chain.filter(exchange);
        }
        Passage before = Passage.of(exchange);
        if (before != null) {
            return stage.charge(before, request, () -> chain.filter(exchange));
        }
        Passage passage = Passage.begin(exchange);
        return Mono.defer(() -> stage.charge(passage, request, () -> chain.filter(exchange)))
                .doFinally(ending -> passage.end());
    }
}
