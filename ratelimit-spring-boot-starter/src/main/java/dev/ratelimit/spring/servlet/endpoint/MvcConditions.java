package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.spring.boot.endpoint.RouteConditions;
import dev.ratelimit.spring.boot.version.Boot;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPattern;

/** What the mappings of Spring MVC require of requests; they must use parsed patterns. */
final class MvcConditions implements RouteConditions<RequestMappingInfo, HttpServletRequest> {

    /** The mappings of annotated controllers and of the actuator; their subclasses may decide in another way. */
    private static final Set<String> SPRINGS_OWN =
            Set.of(RequestMappingHandlerMapping.class.getName(), Boot.MVC_ACTUATOR + "WebMvcEndpointHandlerMapping");

    /** Whether the mapping decides in the same way: it is Spring's own, without versions and other defaults. */
    static boolean canStandFor(HandlerMapping mapping) {
        return mapping instanceof RequestMappingInfoHandlerMapping controllers
                && SPRINGS_OWN.contains(mapping.getClass().getName())
                && controllers.getDefaultHandler() == null
                && !(mapping instanceof RequestMappingHandlerMapping own && ApiVersions.areUsedBy(own))
                && controllers.getHandlerMethods().keySet().stream()
                        .allMatch(info -> info.getPathPatternsCondition() != null);
    }

    @Override
    public Collection<PathPattern> patterns(RequestMappingInfo route) {
        return condition(route).getPatterns();
    }

    private static PathPatternsRequestCondition condition(RequestMappingInfo info) {
        return Objects.requireNonNull(info.getPathPatternsCondition());
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
                && route.getProducesCondition().isEmpty()
                && route.getCustomCondition() == null;
    }

    @Override
    public @Nullable RequestMappingInfo matching(RequestMappingInfo route, HttpServletRequest request) {
        return route.getMatchingCondition(request);
    }

    @Override
    public int compare(RequestMappingInfo one, RequestMappingInfo other, HttpServletRequest request) {
        return one.compareTo(other, request);
    }
}
