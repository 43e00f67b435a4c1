package dev.ratelimit.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.filter.ServerHttpObservationFilter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UrlPathHelper;

/**
 * The routes of Spring MVC's annotated controllers, found by path: the mapping itself looks at every route for a path with a
 * variable in it. What decides between the few that are left are the mapping's own conditions, in its own order.
 */
final class MappedRoutes {

    /** A mapped method; its conditions are those of the mapping. */
    record Route(RequestMappingInfo info, HandlerMethod handler) {}

    /** The method that a request leads to, and by which pattern. */
    record Match(RequestMappingInfo info, HandlerMethod handler) {

        String pattern() {
            return patterns(info).getFirstPattern().getPatternString();
        }
    }

    private final RouteIndex<Route> index = new RouteIndex<>();

    MappedRoutes(RequestMappingInfoHandlerMapping mapping) {
        mapping.getHandlerMethods().forEach((info, handler) -> {
            Route route = new Route(info, handler);
            patterns(info).getPatterns().forEach(pattern -> index.add(pattern, route));
        });
    }

    /** Whether the mapping decides as is decided here: it is Spring's own, and has no versions and no other defaults. */
    static boolean canStandFor(HandlerMapping mapping) {
        return mapping.getClass() == RequestMappingHandlerMapping.class
                && ((RequestMappingHandlerMapping) mapping).getApiVersionStrategy() == null
                && ((RequestMappingHandlerMapping) mapping).getDefaultHandler() == null
                && ((RequestMappingHandlerMapping) mapping)
                        .getHandlerMethods().keySet().stream()
                                .allMatch(info -> info.getPathPatternsCondition() != null);
    }

    private static PathPatternsRequestCondition patterns(RequestMappingInfo info) {
        return Objects.requireNonNull(info.getPathPatternsCondition());
    }

    /** The routes that the path alone leads to. */
    List<Route> candidates(PathContainer path) {
        return index.find(path);
    }

    /**
     * The route that the mapping will choose, or {@code null} where it will choose none: then it says why, by an exception
     * or a handler of its own.
     *
     * @throws IllegalStateException when two are as good
     */
    @Nullable
    Match best(List<Route> candidates, HttpServletRequest view) {
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
            throw new IllegalStateException("ambiguous, as the dispatcher will say");
        }
        // as the mapping does: what is refused is observed under its pattern, and not as unknown
        ServerHttpObservationFilter.findObservationContext(view)
                .ifPresent(context -> context.setPathPattern(best.pattern()));
        return best;
    }

    private static void addIfMatching(Route route, HttpServletRequest view, List<Match> matches) {
        RequestMappingInfo matching = route.info().getMatchingCondition(view);
        if (matching != null) {
            matches.add(new Match(matching, route.handler()));
        }
    }
}
