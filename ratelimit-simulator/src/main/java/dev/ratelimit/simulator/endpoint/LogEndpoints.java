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

/** Finds the endpoints of logged requests: those of a list, or those that a recording has in place of paths. */
public final class LogEndpoints implements EndpointResolver {

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
    private final boolean recorded;

    /** The path below which the actuator is; empty if it has its own port. */
    private final String management;

    /** By method and path, as most requests are not the first with theirs. */
    private final Map<String, Endpoint> seen = new HashMap<>();

    private LogEndpoints(List<Route> routes, boolean recorded, String management) {
        this.recorded = recorded;
        this.management = management;
        routes.stream()
                .sorted(Comparator.comparing(Route::pattern, PathPattern.SPECIFICITY_COMPARATOR))
                .forEach(route ->
                        known.add(new Known(route, Endpoint.of(List.copyOf(route.methods()), route.pattern()))));
    }

    /**
     * Finds endpoints.
     *
     * @param routes the known ones; empty if none are
     * @param management the path below which the actuator is; empty if it has its own port
     */
    public LogEndpoints(List<Route> routes, String management) {
        this(routes, false, management);
    }

    /** The endpoints of a recording of the same application, which has their patterns in place of paths. */
    public LogEndpoints ofRecording() {
        return new LogEndpoints(List.of(), true, management);
    }

    /** Whether endpoints are known. */
    public boolean areKnown() {
        return recorded || !known.isEmpty();
    }

    @Override
    public Endpoint resolve(WebRequest request) {
        String key = request.method() + " " + request.path().value();
        Endpoint before = seen.get(key);
        if (before != null) {
            return before;
        }
        if (seen.size() >= KEPT) {
            seen.clear();
        }
        Endpoint found = find(request.method(), request.path());
        seen.put(key, found);
        return found;
    }

    private Endpoint find(String method, PathContainer path) {
        if (recorded || isManagement(path.value())) {
            return ofPattern(method, path.value());
        }
        String seenAs = HttpMethods.seenAs(method);
        Endpoint other = Endpoint.NOWHERE;
        for (Known one : known) {
            if (one.route().pattern().matches(path)) {
                Set<String> methods = one.route().methods();
                if (methods.isEmpty() || methods.contains(seenAs)) {
                    return one.endpoint();
                }
                // as for a request that is answered with 405
                other = other.equals(Endpoint.NOWHERE) ? one.endpoint() : other;
            }
        }
        return other;
    }

    private Endpoint ofPattern(String method, String written) {
        String name = Endpoint.methodOf(method);
        List<String> methods = name.equals("ANY") ? List.of() : List.of(name);
        try {
            PathPattern pattern = PathPatternParser.defaultInstance.parse(written);
            return isManagement(written) ? Endpoint.ofManagement(methods, pattern) : Endpoint.of(methods, pattern);
        } catch (PatternParseException e) {
            return Endpoint.UNMAPPED;
        }
    }

    private boolean isManagement(String path) {
        return !management.isEmpty() && (path.equals(management) || path.startsWith(management + "/"));
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
