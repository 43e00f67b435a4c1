package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.spring.boot.endpoint.RouteIndex;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** Functional routes, found by path. The first one that matches counts, not the most specific. */
final class FunctionalRoutes {

    /**
     * A route.
     *
     * @param order its place among all routes
     * @param clear whether nothing but its path and its methods decide
     */
    private record Route(int order, Set<String> methods, Endpoint endpoint, boolean clear) {}

    private final RouteIndex<Route> index = new RouteIndex<>();

    FunctionalRoutes(RouterFunction<?> function, PathPatternParser parser) {
        List<FunctionVisitor.Seen> seen = FunctionVisitor.routesOf(function);
        for (int i = 0; i < seen.size(); i++) {
            add(i, seen.get(i), parser);
        }
    }

    private void add(int order, FunctionVisitor.Seen seen, PathPatternParser parser) {
        PathPattern pattern;
        boolean clear = seen.clear();
        try {
            pattern = parser.parse(seen.pattern());
        } catch (PatternParseException nested) {
            // such as a variable that its prefix has, too
            pattern = parser.parse(FunctionVisitor.EVERY_PATH);
            clear = false;
        }
        index.add(pattern, new Route(order, seen.methods(), Endpoint.of(List.of(), pattern), clear));
    }

    /**
     * Where a request leads: the endpoint, unless something else decides; {@code null} if to none of these routes.
     *
     * @param preflight whether the browser asks for another request
     */
    @Nullable
    Found find(PathContainer path, HttpMethod method, boolean preflight) {
        List<Route> candidates = new ArrayList<>(index.find(path));
        candidates.sort(Comparator.comparingInt(Route::order));
        for (Route route : candidates) {
            if (preflight) {
                return new Found(route.endpoint(), false);
            }
            if (route.methods().isEmpty() || route.methods().contains(method.name())) {
                return new Found(route.endpoint(), route.clear());
            }
        }
        return null;
    }

    /** What the application answers, as far as it can be seen. */
    static void addTo(List<Routes.Route> routes, RouterFunction<?> function) {
        FunctionVisitor.routesOf(function).forEach(seen -> {
            Set<String> methods = new HashSet<>();
            seen.methods().forEach(method -> methods.add(Endpoint.methodOf(method)));
            routes.add(new Routes.Route(methods, seen.pattern()));
        });
    }
}
