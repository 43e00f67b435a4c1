package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.pattern.PathPattern;

/** The endpoints of the handler methods of an application. Must not be changed after the first use. */
public final class KnownEndpoints {

    private record Mapped(HandlerMethod handler, String pattern) {}

    private final BiPredicate<Endpoint, HandlerMethod> saySomething;
    private final Map<Mapped, Endpoint> byHandler = new HashMap<>();

    /** Every route, for requests that miss only the method or the media type. */
    private final RouteIndex<Endpoint> routes = new RouteIndex<>();

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

    /**
     * Adds those of a handler method.
     *
     * @param verbs empty for all methods
     * @param operators whether they serve the operators of the application
     */
    public void add(
            Collection<RequestMethod> verbs,
            Collection<PathPattern> patterns,
            HandlerMethod handler,
            boolean operators) {
        List<String> methods = verbs.stream()
                .map(method -> Endpoint.methodOf(method.name()))
                .distinct()
                .sorted()
                .toList();
        for (PathPattern pattern : patterns) {
            Endpoint endpoint = operators ? Endpoint.ofManagement(methods, pattern) : Endpoint.of(methods, pattern);
            byHandler.put(new Mapped(handler, pattern.getPatternString()), endpoint);
            routes.add(pattern, endpoint);
            if (saySomething.test(endpoint, handler)) {
                annotated.add(pattern, endpoint);
            }
            if (operators) {
                management.add(pattern);
            }
        }
    }

    /** The endpoint of a handler method and one of its patterns; {@code null} if it is not known. */
    public @Nullable Endpoint of(HandlerMethod handler, String pattern) {
        return byHandler.get(new Mapped(handler, pattern));
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
        List<Endpoint> endpoints = new ArrayList<>(routes.find(path));
        endpoints.sort(Comparator.comparing(KnownEndpoints::patternOf, PathPattern.SPECIFICITY_COMPARATOR)
                .thenComparing(endpoint -> !isFor(endpoint, method))
                .thenComparing(Endpoint::id));
        return endpoints.isEmpty() ? Endpoint.NOWHERE : endpoints.get(0);
    }

    private static boolean isFor(Endpoint endpoint, String method) {
        String methods = endpoint.id().substring(0, endpoint.id().indexOf(' '));
        return List.of(methods.split(",", -1)).contains(method);
    }

    private static PathPattern patternOf(Endpoint endpoint) {
        return Objects.requireNonNull(endpoint.pattern());
    }
}
