package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.pattern.PathPattern;

/**
 * The endpoints of the handler methods of an application. Must not be changed after the first use.
 *
 * @param <R> a request
 */
public final class KnownEndpoints<R> {

    /**
     * A handler method at one of its patterns.
     *
     * @param methods empty for all methods
     * @param conditions whether the mapping finds that a request meets all that the route requires; {@code null} if that is a
     *     path and a method
     */
    public record Route<R>(
            Endpoint endpoint,
            Set<RequestMethod> methods,
            @Nullable Predicate<R> conditions) {

        private boolean isFor(RequestMethod method) {
            return methods.isEmpty()
                    || methods.contains(method)
                    || (method == RequestMethod.HEAD && methods.contains(RequestMethod.GET));
        }
    }

    /** As mappings compare routes first of all. */
    private static final Comparator<Endpoint> BY_PATTERN = Comparator.comparing(
            endpoint -> Objects.requireNonNull(endpoint.pattern()), PathPattern.SPECIFICITY_COMPARATOR);

    private record Mapped(HandlerMethod handler, String pattern) {}

    private final BiPredicate<Endpoint, HandlerMethod> saySomething;
    private final Map<Mapped, Endpoint> byHandler = new HashMap<>();
    private final Map<Object, RouteIndex<Route<R>>> byMapping = new HashMap<>();

    /** The routes of endpoints with annotations. */
    private final RouteIndex<Endpoint> annotated = new RouteIndex<>();

    private final ManagementRoutes management = new ManagementRoutes();

    /**
     * Knows no endpoints yet.
     *
     * @param saySomething whether the annotations of a handler method concern its endpoint
     */
    public KnownEndpoints(BiPredicate<Endpoint, HandlerMethod> saySomething) {
        this.saySomething = saySomething;
    }

    /** Patterns by their own texts. */
    public static Map<String, PathPattern> byText(Collection<PathPattern> patterns) {
        Map<String, PathPattern> byText = new LinkedHashMap<>();
        patterns.forEach(pattern -> byText.put(pattern.getPatternString(), pattern));
        return byText;
    }

    /**
     * Adds those of a handler method.
     *
     * @param mapping leads to it
     * @param verbs empty for all methods
     * @param patterns by the text that the mapping knows them by
     * @param conditions as those of a {@link Route}
     */
    public void add(
            Object mapping,
            Set<RequestMethod> verbs,
            Map<String, PathPattern> patterns,
            @Nullable Predicate<R> conditions,
            HandlerMethod handler) {
        boolean operators = ManagementRoutes.areIn(mapping);
        List<String> methods = verbs.stream()
                .map(method -> Endpoint.methodOf(method.name()))
                .distinct()
                .sorted()
                .toList();
        patterns.forEach((text, pattern) -> {
            Endpoint endpoint = byHandler.computeIfAbsent(
                    new Mapped(handler, text),
                    unknown ->
                            operators ? Endpoint.ofManagement(methods, pattern) : Endpoint.of(methods, text, pattern));
            routesOf(mapping).add(pattern, new Route<>(endpoint, verbs, conditions));
            if (saySomething.test(endpoint, handler)) {
                annotated.add(pattern, endpoint);
            }
            if (operators) {
                management.add(pattern);
            }
        });
    }

    /** The routes of a mapping, by path. */
    public RouteIndex<Route<R>> routesOf(Object mapping) {
        return byMapping.computeIfAbsent(mapping, known -> new RouteIndex<>());
    }

    /**
     * Where a request leads among the routes of a mapping, if one of those that it meets is more specific than all others.
     *
     * @param matching the routes that match the path
     * @param verb the method of the request
     * @param request what conditions read; {@code null} if routes with conditions are uncertain
     * @return {@link Endpoint#NOWHERE} if the mapping finds nothing; {@code null} if only the mapping itself can tell
     */
    public static <R> @Nullable Endpoint certain(List<Route<R>> matching, String verb, @Nullable R request) {
        if (matching.isEmpty()) {
            return Endpoint.NOWHERE;
        }
        RequestMethod method = RequestMethod.resolve(verb);
        if (method == null || method == RequestMethod.OPTIONS) {
            return null;
        }
        Endpoint best = null;
        for (int i = 0; i < matching.size(); i++) {
            Route<R> route = matching.get(i);
            if (!route.isFor(method)) {
                continue;
            }
            Predicate<R> conditions = route.conditions();
            if (conditions != null && request == null) {
                return null;
            }
            if (conditions == null || conditions.test(request)) {
                int order = best == null ? -1 : BY_PATTERN.compare(route.endpoint(), best);
                // of two routes for HEAD, mappings compare the methods first
                if (order == 0 || (best != null && method == RequestMethod.HEAD)) {
                    return null;
                }
                best = order < 0 ? route.endpoint() : best;
            }
        }
        return best;
    }

    /**
     * The endpoint of a handler method and one of its patterns, to which the mapping may have added a slash or a suffix;
     * {@code null} if it is not known.
     */
    public @Nullable Endpoint of(HandlerMethod handler, String pattern) {
        Endpoint exact = byHandler.get(new Mapped(handler, pattern));
        if (exact != null) {
            return exact;
        }
        int end = pattern.endsWith(".*") ? pattern.length() - 2 : pattern.length() - 1;
        return end > 0 && (pattern.endsWith(".*") || pattern.endsWith("/"))
                ? byHandler.get(new Mapped(handler, pattern.substring(0, end)))
                : null;
    }

    /** Whether any endpoint has annotations. */
    public boolean anyAnnotated() {
        return !annotated.isEmpty();
    }

    /** Whether a path matches that of an endpoint with annotations. */
    public boolean matchAnnotated(PathContainer path) {
        return annotated.matchesAny(path);
    }

    /** The paths of endpoints that serve the operators of the application. */
    public ManagementRoutes management() {
        return management;
    }

    /** The most specific endpoint by path alone, preferably one for this method. */
    public Endpoint closestTo(PathContainer path, String verb) {
        String method = Endpoint.methodOf(verb);
        List<Endpoint> endpoints = new ArrayList<>();
        byMapping.values().forEach(routes -> routes.find(path).forEach(route -> endpoints.add(route.endpoint())));
        endpoints.sort(
                BY_PATTERN.thenComparing(endpoint -> !endpoint.names(method)).thenComparing(Endpoint::id));
        return endpoints.isEmpty() ? Endpoint.NOWHERE : endpoints.get(0);
    }
}
