package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.UrlPathHelper;
import org.springframework.web.util.pattern.PathPattern;

/**
 * The routes of annotated controllers, found by path: the mapping itself looks at every route for a path with a variable.
 * The mapping's own conditions, in its own order, decide between the remaining few.
 *
 * @param <I> the requirements of a route
 * @param <R> a request
 */
public final class MappedRoutes<I, R> {

    /**
     * A mapped method with the conditions of its mapping.
     *
     * @param plain the endpoint, if the route has only one and only path and method decide; otherwise {@code null}
     */
    public record Route<I>(
            I info, HandlerMethod handler, @Nullable Endpoint plain) {}

    /** The method that a request leads to, and the matching pattern. */
    public record Match<I>(I info, HandlerMethod handler, PathPattern pattern) {}

    private final RouteConditions<I, R> conditions;
    private final RouteIndex<Route<I>> index = new RouteIndex<>();

    /** The patterns without variables and wildcards. */
    private final Set<String> paths = new HashSet<>();

    /**
     * Indexes the routes of a mapping.
     *
     * @param routes the handlers of the mapping
     * @param endpoints the endpoint of a method and a pattern
     */
    public MappedRoutes(
            Map<I, HandlerMethod> routes,
            RouteConditions<I, R> conditions,
            BiFunction<HandlerMethod, PathPattern, @Nullable Endpoint> endpoints) {
        this.conditions = conditions;
        routes.forEach((info, handler) -> {
            Endpoint plain = isPlain(info) ? endpoints.apply(handler, first(info)) : null;
            Route<I> route = new Route<>(info, handler, plain);
            conditions.patterns(info).forEach(pattern -> index.add(pattern, route));
            paths.addAll(conditions.directPaths(info));
        });
    }

    private boolean isPlain(I info) {
        return conditions.patterns(info).size() == 1 && conditions.isPlain(info);
    }

    private PathPattern first(I info) {
        return conditions.patterns(info).iterator().next();
    }

    /** The patterns without variables and wildcards, which are paths. */
    public Set<String> paths() {
        return paths;
    }

    /** The routes that match the path alone, each only once. */
    public List<Route<I>> candidates(PathContainer path) {
        List<Route<I>> found = index.find(path);
        return found.size() < 2 ? found : found.stream().distinct().toList();
    }

    /**
     * The only route that matches path and method, if nothing else decides, so that it has an endpoint; otherwise
     * {@code null}. The same result as that of {@link #best}, without a view of the request and without copies of the
     * conditions.
     *
     * @param verb the method of the request
     */
    public static <I> @Nullable Route<I> plain(
            List<Route<I>> candidates, String verb, RouteConditions<I, ?> conditions) {
        RequestMethod method = RequestMethod.resolve(verb);
        if (method == null || method == RequestMethod.HEAD || method == RequestMethod.OPTIONS) {
            return null;
        }
        Route<I> only = null;
        for (int i = 0; i < candidates.size(); i++) {
            Route<I> route = candidates.get(i);
            Set<RequestMethod> methods = conditions.methods(route.info());
            if (methods.isEmpty() || methods.contains(method)) {
                if (only != null) {
                    return null;
                }
                only = route;
            }
        }
        return only == null || only.plain() == null ? null : only;
    }

    /**
     * The route that the mapping will choose, or {@code null} if it will choose none: then it explains itself by an
     * exception or its own handler.
     *
     * @param path the path of the request, relative to the application
     * @throws IllegalStateException if two routes match equally well
     */
    public @Nullable Match<I> best(List<Route<I>> candidates, R request, String path) {
        String direct = UrlPathHelper.defaultInstance.removeSemicolonContent(path);
        List<Route<I>> matches = new ArrayList<>(candidates.size());
        for (Route<I> route : candidates) {
            if (conditions.directPaths(route.info()).contains(direct)) {
                addIfMatching(route, request, matches);
            }
        }
        if (matches.isEmpty()) {
            candidates.forEach(route -> addIfMatching(route, request, matches));
        }
        if (matches.isEmpty()) {
            return null;
        }
        matches.sort((a, b) -> conditions.compare(a.info(), b.info(), request));
        Route<I> best = matches.get(0);
        if (matches.size() > 1 && conditions.compare(best.info(), matches.get(1).info(), request) == 0) {
            throw new IllegalStateException("ambiguous handler methods");
        }
        return new Match<>(best.info(), best.handler(), first(best.info()));
    }

    private void addIfMatching(Route<I> route, R request, List<Route<I>> matches) {
        I matching = conditions.matching(route.info(), request);
        if (matching != null) {
            matches.add(new Route<>(matching, route.handler(), null));
        }
    }
}
