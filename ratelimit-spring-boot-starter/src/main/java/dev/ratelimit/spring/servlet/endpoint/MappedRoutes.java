package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.spring.rules.request.Endpoint;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.filter.ServerHttpObservationFilter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UrlPathHelper;
import org.springframework.web.util.pattern.PathPattern;

/**
 * The routes of annotated controllers of Spring MVC, found by path: the mapping itself looks at every route for a path
 * with a variable. The mapping's own conditions, in its own order, decide between the remaining few.
 */
final class MappedRoutes {

    /**
     * A mapped method with the conditions of its mapping.
     *
     * @param plain the endpoint, if the route has only one and only path and method decide; otherwise {@code null}
     */
    record Route(
            RequestMappingInfo info,
            HandlerMethod handler,
            @Nullable Endpoint plain) {}

    /** The method that a request leads to, and the matching pattern. */
    record Match(RequestMappingInfo info, HandlerMethod handler) {

        PathPattern pattern() {
            return patterns(info).getFirstPattern();
        }
    }

    /** The mappings of annotated controllers and of the actuator; their subclasses may decide in another way. */
    private static final Set<String> SPRINGS_OWN = Set.of(
            RequestMappingHandlerMapping.class.getName(),
            "org.springframework.boot.webmvc.actuate.endpoint.web.WebMvcEndpointHandlerMapping");

    private final RouteIndex<Route> index = new RouteIndex<>();

    /** The patterns without variables and wildcards. */
    private final Set<String> paths = new HashSet<>();

    /**
     * Indexes the routes of a mapping.
     *
     * @param endpoints the endpoint of a method and a pattern
     */
    MappedRoutes(
            RequestMappingInfoHandlerMapping mapping,
            BiFunction<HandlerMethod, PathPattern, @Nullable Endpoint> endpoints) {
        mapping.getHandlerMethods().forEach((info, handler) -> {
            Endpoint plain =
                    isPlain(info) ? endpoints.apply(handler, patterns(info).getFirstPattern()) : null;
            Route route = new Route(info, handler, plain);
            patterns(info).getPatterns().forEach(pattern -> index.add(pattern, route));
            paths.addAll(info.getDirectPaths());
        });
    }

    private static boolean isPlain(RequestMappingInfo info) {
        return patterns(info).getPatterns().size() == 1
                && info.getParamsCondition().isEmpty()
                && info.getHeadersCondition().isEmpty()
                && info.getConsumesCondition().isEmpty()
                && info.getProducesCondition().isEmpty()
                && info.getCustomCondition() == null;
    }

    /** Whether the mapping decides in the same way: it is Spring's own, without versions and other defaults. */
    static boolean canStandFor(HandlerMapping mapping) {
        return mapping instanceof RequestMappingInfoHandlerMapping controllers
                && SPRINGS_OWN.contains(mapping.getClass().getName())
                && controllers.getDefaultHandler() == null
                && !(mapping instanceof RequestMappingHandlerMapping own && own.getApiVersionStrategy() != null)
                && controllers.getHandlerMethods().keySet().stream()
                        .allMatch(info -> info.getPathPatternsCondition() != null);
    }

    private static PathPatternsRequestCondition patterns(RequestMappingInfo info) {
        return Objects.requireNonNull(info.getPathPatternsCondition());
    }

    /** The patterns without variables and wildcards, which are paths. */
    Set<String> paths() {
        return paths;
    }

    /** The routes that match the path alone, each only once. */
    List<Route> candidates(PathContainer path) {
        List<Route> found = index.find(path);
        return found.size() < 2 ? found : found.stream().distinct().toList();
    }

    /**
     * The endpoint of the only route that matches path and method, if nothing else decides; otherwise {@code null}. The
     * same result as that of {@link #best}, without a view of the request and without copies of the conditions.
     */
    static @Nullable Endpoint plainEndpoint(List<Route> candidates, HttpServletRequest request) {
        RequestMethod method = RequestMethod.resolve(request.getMethod());
        if (method == null || method == RequestMethod.HEAD || method == RequestMethod.OPTIONS) {
            return null;
        }
        Route only = null;
        for (int i = 0; i < candidates.size(); i++) {
            Route route = candidates.get(i);
            Set<RequestMethod> methods = route.info().getMethodsCondition().getMethods();
            if (methods.isEmpty() || methods.contains(method)) {
                if (only != null) {
                    return null;
                }
                only = route;
            }
        }
        if (only == null || only.plain() == null) {
            return null;
        }
        observe(request, only.info());
        return only.plain();
    }

    /** As in the mapping: refused requests are observed under their pattern, and not as unknown. */
    private static void observe(HttpServletRequest request, RequestMappingInfo info) {
        Optional<ServerRequestObservationContext> observed =
                ServerHttpObservationFilter.findObservationContext(request);
        if (observed.isPresent()) {
            observed.get().setPathPattern(patterns(info).getFirstPattern().getPatternString());
        }
    }

    /**
     * The route that the mapping will choose, or {@code null} if it will choose none: then it explains itself by an
     * exception or its own handler.
     *
     * @throws IllegalStateException if two routes match equally well
     */
    static @Nullable Match best(List<Route> candidates, HttpServletRequest view) {
        String path = ServletRequestPathUtils.getParsedRequestPath(view)
                .pathWithinApplication()
                .value();
        String direct = UrlPathHelper.defaultInstance.removeSemicolonContent(path);
        List<Match> matches = new ArrayList<>(candidates.size());
        for (Route route : candidates) {
            if (route.info().getDirectPaths().contains(direct)) {
                addIfMatching(route, view, matches);
            }
        }
        if (matches.isEmpty()) {
            candidates.forEach(route -> addIfMatching(route, view, matches));
        }
        if (matches.isEmpty()) {
            return null;
        }
        matches.sort((a, b) -> a.info().compareTo(b.info(), view));
        Match best = matches.get(0);
        if (matches.size() > 1 && best.info().compareTo(matches.get(1).info(), view) == 0) {
            throw new IllegalStateException("ambiguous handler methods");
        }
        observe(view, best.info());
        return best;
    }

    private static void addIfMatching(Route route, HttpServletRequest view, List<Match> matches) {
        RequestMappingInfo matching = route.info().getMatchingCondition(view);
        if (matching != null) {
            matches.add(new Match(matching, route.handler()));
        }
    }
}
