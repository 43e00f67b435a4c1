package dev.ratelimit.simulator.endpoint;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.rules.request.HttpMethods;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** Finds the endpoints of logged requests: the known ones or, if there are none, those that the paths look like. */
public final class LogEndpoints implements EndpointResolver {

    private static final int MAX_LEARNED = 10_000;
    private static final int KEPT = 50_000;

    /**
     * A known endpoint.
     *
     * @param methods of its requests, without {@code HEAD}; empty for all
     * @param pattern of its paths, relative to the context path
     */
    public record Route(Set<String> methods, PathPattern pattern) {}

    private record Known(Route route, Endpoint endpoint) {}

    private final List<Known> known = new ArrayList<>();
    private final boolean learning;

    /** The path below which the actuator is; empty if it has its own port. */
    private final String management;

    private final Map<String, Endpoint> learned = new HashMap<>();

    /** By method and path, as most requests are not the first with theirs. */
    private final Map<String, Map<String, Endpoint>> seen = new HashMap<>();

    private int kept;

    /**
     * Finds endpoints.
     *
     * @param routes the known ones; empty to learn them from the paths
     * @param management the path below which the actuator is; empty if it has its own port
     */
    public LogEndpoints(List<Route> routes, String management) {
        this.learning = routes.isEmpty();
        this.management = management;
        routes.stream()
                .sorted(Comparator.comparing(Route::pattern, PathPattern.SPECIFICITY_COMPARATOR))
                .forEach(route ->
                        known.add(new Known(route, Endpoint.of(List.copyOf(route.methods()), route.pattern()))));
    }

    /** How many endpoints were learned. */
    public int learned() {
        return learned.size();
    }

    @Override
    public Endpoint resolve(WebRequest request) {
        String method = request.method();
        Map<String, Endpoint> ofMethod = seen.computeIfAbsent(method, none -> new HashMap<>());
        String path = request.path().value();
        Endpoint before = ofMethod.get(path);
        if (before != null) {
            return before;
        }
        if (kept++ > KEPT) {
            seen.clear();
            kept = 0;
            ofMethod = seen.computeIfAbsent(method, none -> new HashMap<>());
        }
        Endpoint found = find(HttpMethods.seenAs(method), request.path());
        ofMethod.put(path, found);
        return found;
    }

    private Endpoint find(String method, PathContainer path) {
        if (isManagement(path.value())) {
            return learn(method, path.value(), true);
        }
        if (learning) {
            return learn(method, path.value(), false);
        }
        Endpoint other = Endpoint.NOWHERE;
        for (Known one : known) {
            if (one.route().pattern().matches(path)) {
                Set<String> methods = one.route().methods();
                if (methods.isEmpty() || methods.contains(method)) {
                    return one.endpoint();
                }
                // as for a request that is answered with 405
                other = other.equals(Endpoint.NOWHERE) ? one.endpoint() : other;
            }
        }
        return other;
    }

    private Endpoint learn(String method, String path, boolean operators) {
        String name = Endpoint.methodOf(method);
        String written = LearnedPaths.of(path);
        Endpoint before = learned.get(name + " " + written);
        if (before != null) {
            return before;
        }
        if (learned.size() >= MAX_LEARNED) {
            return Endpoint.UNMAPPED;
        }
        try {
            PathPattern pattern = PathPatternParser.defaultInstance.parse(written);
            List<String> methods = name.equals("ANY") ? List.of() : List.of(name);
            Endpoint endpoint = operators ? Endpoint.ofManagement(methods, pattern) : Endpoint.of(methods, pattern);
            learned.put(name + " " + written, endpoint);
            return endpoint;
        } catch (PatternParseException e) {
            return Endpoint.UNMAPPED;
        }
    }

    private boolean isManagement(String path) {
        return !management.isEmpty()
                && path.startsWith(management)
                && (path.length() == management.length() || path.charAt(management.length()) == '/');
    }

    /** Logs know no annotations. */
    @Override
    public boolean mayLeadToAnnotated(WebRequest request) {
        return false;
    }

    @Override
    public boolean mayLeadToManagement(WebRequest request) {
        return isManagement(request.path().value());
    }
}
