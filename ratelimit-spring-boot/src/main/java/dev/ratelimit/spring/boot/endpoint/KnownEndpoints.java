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

    /** Patterns by their own texts. */
    public static Map<String, PathPattern> byText(Collection<PathPattern> patterns) {
        Map<String, PathPattern> byText = new LinkedHashMap<>();
        patterns.forEach(pattern -> byText.put(pattern.getPatternString(), pattern));
        return byText;
    }

    /**
     * Adds those of a handler method.
     *
     * @param verbs empty for all methods
     * @param patterns by the text that the mapping knows them by
     * @param operators whether they serve the operators of the application
     */
    public void add(
            Collection<RequestMethod> verbs,
            Map<String, PathPattern> patterns,
            HandlerMethod handler,
            boolean operators) {
        List<String> methods = verbs.stream()
                .map(method -> Endpoint.methodOf(method.name()))
                .distinct()
                .sorted()
                .toList();
        patterns.forEach((text, pattern) -> {
            Endpoint endpoint =
                    operators ? Endpoint.ofManagement(methods, pattern) : Endpoint.of(methods, text, pattern);
            byHandler.put(new Mapped(handler, text), endpoint);
            routes.add(pattern, endpoint);
            if (saySomething.test(endpoint, handler)) {
                annotated.add(pattern, endpoint);
            }
            if (operators) {
                management.add(pattern);
            }
        });
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
