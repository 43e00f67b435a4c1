package dev.ratelimit.spring.reactive.filter;

import dev.ratelimit.spring.reactive.RouteLimits;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import java.util.List;
import java.util.function.BiFunction;
import org.springframework.web.reactive.function.server.HandlerFilterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;

/** Charges the policies that functional routes name, after the filters. */
final class FunctionalLimits implements RouteLimits {

    private final BiFunction<String, List<String>, RateLimitStage> stages;
    private volatile boolean used;

    /**
     * Creates the limits.
     *
     * @param stages creates the stage of a route and its policies
     */
    FunctionalLimits(BiFunction<String, List<String>, RateLimitStage> stages) {
        this.stages = stages;
    }

    /** Whether any route has such a limit. */
    boolean areUsed() {
        return used;
    }

    @Override
    public HandlerFilterFunction<ServerResponse, ServerResponse> of(String... policies) {
        RateLimitStage stage = stages.apply("of a function", List.of(policies));
        used = true;
        return (request, next) -> {
            ServerWebExchange exchange = request.exchange();
            Passage passage = Passage.of(exchange);
            return passage == null
                    ? next.handle(request)
                    : stage.charge(passage, ReactiveWebRequest.of(exchange), same -> next.handle(request));
        };
    }
}
