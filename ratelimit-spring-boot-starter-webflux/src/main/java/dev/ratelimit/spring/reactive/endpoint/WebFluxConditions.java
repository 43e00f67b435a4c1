package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.spring.boot.endpoint.ManagementRoutes;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;

/** What the mappings of WebFlux require of requests besides a path. */
final class WebFluxConditions {

    private WebFluxConditions() {}

    /**
     * Whether a path that matches no pattern leads nowhere, and conditions of Spring decide the rest: it is Spring's own
     * mapping of controllers or of the actuator, without versions, and without conditions of the application, which may
     * decide by anything. A subclass may decide in another way.
     */
    static boolean areAll(RequestMappingInfoHandlerMapping mapping) {
        return (mapping.getClass() == RequestMappingHandlerMapping.class || ManagementRoutes.areIn(mapping))
                && !ApiVersions.areUsedBy(mapping)
                && mapping.getHandlerMethods().keySet().stream().allMatch(info -> info.getCustomCondition() == null);
    }

    /** Those of a route; {@code null} if there are none but a path and a method. */
    static @Nullable Predicate<ServerWebExchange> of(RequestMappingInfo route) {
        boolean none = route.getParamsCondition().isEmpty()
                && route.getHeadersCondition().isEmpty()
                && route.getConsumesCondition().isEmpty()
                && route.getProducesCondition().isEmpty();
        return none ? null : exchange -> route.getMatchingCondition(exchange) != null;
    }
}
