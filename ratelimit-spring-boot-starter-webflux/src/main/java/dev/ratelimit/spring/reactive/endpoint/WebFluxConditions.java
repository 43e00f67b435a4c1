package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.spring.boot.endpoint.RouteConditions;
import dev.ratelimit.spring.boot.version.Boot;
import java.util.Collection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;

/** What the mappings of WebFlux require of requests. */
final class WebFluxConditions implements RouteConditions<RequestMappingInfo, ServerWebExchange> {

    /** The mappings of annotated controllers and of the actuator; their subclasses may decide in another way. */
    private static final Set<String> SPRINGS_OWN = Set.of(
            RequestMappingHandlerMapping.class.getName(),
            Boot.WEB_FLUX_ACTUATOR + "WebFluxEndpointHandlerMapping",
            Boot.WEB_FLUX_ACTUATOR + "AdditionalHealthEndpointPathsWebFluxHandlerMapping",
            Boot.WEB_FLUX_ACTUATOR + "ControllerEndpointHandlerMapping");

    /**
     * Whether the mapping decides in the same way: it is Spring's own, without versions and conditions of the
     * application, which may decide by anything.
     */
    static boolean canStandFor(HandlerMapping mapping) {
        return mapping instanceof RequestMappingInfoHandlerMapping controllers
                && SPRINGS_OWN.contains(mapping.getClass().getName())
                && !ApiVersions.areUsedBy(controllers)
                && controllers.getHandlerMethods().keySet().stream()
                        .allMatch(info -> info.getCustomCondition() == null);
    }

    @Override
    public Collection<PathPattern> patterns(RequestMappingInfo route) {
        return route.getPatternsCondition().getPatterns();
    }

    @Override
    public Set<String> directPaths(RequestMappingInfo route) {
        return route.getDirectPaths();
    }

    @Override
    public Set<RequestMethod> methods(RequestMappingInfo route) {
        return route.getMethodsCondition().getMethods();
    }

    @Override
    public boolean isPlain(RequestMappingInfo route) {
        return route.getParamsCondition().isEmpty()
                && route.getHeadersCondition().isEmpty()
                && route.getConsumesCondition().isEmpty()
                && route.getProducesCondition().isEmpty();
    }

    @Override
    public @Nullable RequestMappingInfo matching(RequestMappingInfo route, ServerWebExchange request) {
        return route.getMatchingCondition(request);
    }

    @Override
    public int compare(RequestMappingInfo one, RequestMappingInfo other, ServerWebExchange request) {
        return one.compareTo(other, request);
    }
}
