package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.boot.version.Boot;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;

/**
 * The paths of Spring Boot's management endpoints, whatever their base path and mapping. A path alone exempts nobody: it
 * only tells which requests to look up. Must not be changed after the first use.
 */
public final class ManagementRoutes {

    /** Boot's mappings of the actuator, of health groups with additional paths, and of controllers in the actuator. */
    static final Set<String> MAPPINGS = Set.of(
            Boot.MVC_ACTUATOR + "WebMvcEndpointHandlerMapping",
            Boot.MVC_ACTUATOR + "AdditionalHealthEndpointPathsWebMvcHandlerMapping",
            Boot.MVC_ACTUATOR + "ControllerEndpointHandlerMapping",
            Boot.WEB_FLUX_ACTUATOR + "WebFluxEndpointHandlerMapping",
            Boot.WEB_FLUX_ACTUATOR + "AdditionalHealthEndpointPathsWebFluxHandlerMapping",
            Boot.WEB_FLUX_ACTUATOR + "ControllerEndpointHandlerMapping");

    private final RouteIndex<PathPattern> routes = new RouteIndex<>();

    /** The first segments of all paths. */
    private final Set<String> starts = new LinkedHashSet<>();

    ManagementRoutes() {}

    /** Whether all endpoints of this mapping are management endpoints. */
    public static boolean areIn(Object mapping) {
        return MAPPINGS.contains(mapping.getClass().getName());
    }

    void add(PathPattern pattern) {
        starts.add(literalStart(pattern.getPatternString()));
        routes.add(pattern, pattern);
    }

    /** The first segment, or what precedes its first variable or wildcard. */
    private static String literalStart(String pattern) {
        int end = pattern.indexOf('/', 1);
        String first = end < 0 ? pattern : pattern.substring(0, end);
        return first.replaceFirst("[{*?\\\\].*", "");
    }

    /**
     * Whether a pattern matches every form of the path. Most paths start otherwise and need not be parsed.
     *
     * @param written the path relative to the application, as the client wrote it; {@code null} if it must be parsed
     */
    public boolean mayMatch(WebRequest request, @Nullable String written) {
        if (routes.isEmpty() || (written != null && !startsLikeAny(written))) {
            return false;
        }
        PathContainer normalized = request.normalizedPath();
        return routes.matchesAny(request.path()) && (normalized == null || routes.matchesAny(normalized));
    }

    private boolean startsLikeAny(String path) {
        for (String start : starts) {
            if (path.startsWith(start)) {
                return true;
            }
        }
        return false;
    }
}
