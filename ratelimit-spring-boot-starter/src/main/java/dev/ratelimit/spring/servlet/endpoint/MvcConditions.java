package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.spring.boot.endpoint.ManagementRoutes;
import jakarta.servlet.http.HttpServletRequest;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** What the mappings of Spring MVC require of requests besides a path. */
final class MvcConditions {

    private MvcConditions() {}

    /**
     * Whether a path that matches no pattern leads nowhere, and conditions decide the rest: it is Spring's own mapping of
     * controllers or of the actuator, without versions and other defaults. A subclass may decide in another way.
     */
    static boolean areAll(HandlerMapping mapping) {
        return mapping instanceof RequestMappingInfoHandlerMapping controllers
                && (mapping.getClass() == RequestMappingHandlerMapping.class || ManagementRoutes.areIn(mapping))
                && controllers.getDefaultHandler() == null
                && !(mapping instanceof RequestMappingHandlerMapping own && ApiVersions.areUsedBy(own))
                && controllers.getHandlerMethods().keySet().stream()
                        .allMatch(info -> info.getPathPatternsCondition() != null);
    }

    /** Those of a route; {@code null} if there are none but a path and a method. */
    static @Nullable Predicate<HttpServletRequest> of(RequestMappingInfo route) {
        boolean none = route.getParamsCondition().isEmpty()
                && route.getHeadersCondition().isEmpty()
                && route.getConsumesCondition().isEmpty()
                && route.getProducesCondition().isEmpty()
                && route.getCustomCondition() == null;
        return none ? null : request -> route.getMatchingCondition(request) != null;
    }
}
