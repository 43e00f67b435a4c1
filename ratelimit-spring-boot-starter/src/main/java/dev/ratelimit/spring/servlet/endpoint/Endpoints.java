package dev.ratelimit.spring.servlet.endpoint;

import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE;
import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.servlet.request.AttributeKeepingRequest;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import jakarta.servlet.http.HttpServletRequest;
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
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The endpoints of the application, and which of them a request leads to: the one that the dispatcher will find, with
 * the same handler mappings, but earlier. Thread-safe.
 */
public final class Endpoints implements EndpointResolver {

    private record Mapped(HandlerMethod handler, String pattern) {}

    private final Dispatchers dispatchers;
    private final ServletPaths paths;
    private final List<HandlerMapping> mappings;

    /** Since routes have changed, what was read of them is not used. */
    private final RegistrationWatch watch;

    /** The mappings whose routes are indexed by path; all others are asked. */
    private final Map<HandlerMapping, MappedRoutes> routesOf = new HashMap<>();

    /** The routes that match a path without variables and wildcards, by this path, as far as no other mapping is asked. */
    private final Map<String, List<MappedRoutes.Route>> literal = new HashMap<>();

    /** Whether a mapping may lead to an endpoint whose pattern does not match the path. */
    private boolean unindexed;

    private final Map<Mapped, Endpoint> byHandler = new HashMap<>();

    /** Every route, for requests that miss only the method or the media type. */
    private final RouteIndex<Endpoint> routes = new RouteIndex<>();

    /** The routes of endpoints with annotations. */
    private final RouteIndex<Endpoint> annotated = new RouteIndex<>();

    private final ManagementRoutes management = new ManagementRoutes();

    /**
     * Reads the endpoints of these mappings.
     *
     * @param mappings in the order in which the dispatcher asks them
     * @param dispatchers which requests the dispatcher handles
     * @param saySomething whether the annotations of a handler method concern its endpoint
     * @param ticker when to look for controllers that come later
     */
    public Endpoints(
            List<HandlerMapping> mappings,
            Dispatchers dispatchers,
            BiPredicate<Endpoint, HandlerMethod> saySomething,
            Ticker ticker) {
        this.watch = new RegistrationWatch(mappings, ticker);
        this.mappings = mappings.stream().filter(mapping -> !isUnused(mapping)).toList();
        this.dispatchers = dispatchers;
        this.paths = new ServletPaths(dispatchers);
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof RequestMappingInfoHandlerMapping controllers) {
                boolean operators = ManagementRoutes.areIn(mapping);
                controllers.getHandlerMethods().forEach((info, handler) -> add(info, handler, operators, saySomething));
            }
            unindexed |= !isSprings(mapping)
                    || (mapping instanceof RequestMappingInfoHandlerMapping other && !other.usesPathPatterns());
            if (MappedRoutes.canStandFor(mapping)) {
                routesOf.put(mapping, new MappedRoutes((RequestMappingInfoHandlerMapping) mapping, this::endpointOf));
            }
        }
        addLiteral();
    }

    /** Mappings after one that must be asked have no say, as it comes first. */
    private void addLiteral() {
        List<MappedRoutes> before = new ArrayList<>();
        for (HandlerMapping mapping : mappings) {
            MappedRoutes known = routesOf.get(mapping);
            if (known == null) {
                return;
            }
            before.add(known);
            known.paths().forEach(path -> literal.computeIfAbsent(path, text -> candidates(before, text)));
        }
    }

    /** The routes of the first mapping that has any for this path. */
    private static List<MappedRoutes.Route> candidates(List<MappedRoutes> mappings, String path) {
        PathContainer parsed = PathContainer.parsePath(path);
        for (MappedRoutes routes : mappings) {
            List<MappedRoutes.Route> found = routes.candidates(parsed);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Whether the mapping is not the application's own, which may change paths or ask another mapping. */
    private static boolean isSprings(HandlerMapping mapping) {
        return mapping.getClass().getName().startsWith("org.springframework.");
    }

    /** Whether the mapping never finds anything; Spring MVC always has such a mapping. */
    private static boolean isUnused(HandlerMapping mapping) {
        return mapping instanceof RouterFunctionMapping functions
                && functions.getRouterFunction() == null
                && functions.getDefaultHandler() == null;
    }

    private void add(
            RequestMappingInfo info,
            HandlerMethod handler,
            boolean operators,
            BiPredicate<Endpoint, HandlerMethod> saySomething) {
        List<String> methods = info.getMethodsCondition().getMethods().stream()
                .map(method -> Endpoint.methodOf(method.name()))
                .distinct()
                .sorted()
                .toList();
        for (PathPattern pattern : patterns(info)) {
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

    /**
     * The mapping's own patterns: parsing one again, for example without regard to case, may reject what the mapping
     * accepts.
     */
    private static Collection<PathPattern> patterns(RequestMappingInfo info) {
        PathPatternsRequestCondition condition = info.getPathPatternsCondition();
        return condition != null
                ? condition.getPatterns()
                : info.getPatternValues().stream()
                        .map(PathPatternParser.defaultInstance::parse)
                        .toList();
    }

    @Override
    public boolean mayLeadToAnnotated(WebRequest request) {
        // without annotations, the path need not be parsed
        return !annotated.isEmpty() && mayLeadToAnnotated(request.path());
    }

    public boolean mayLeadToAnnotated(PathContainer path) {
        return !annotated.isEmpty() && (unindexed || annotated.matchesAny(path));
    }

    @Override
    public boolean mayLeadToManagement(WebRequest request) {
        return management.mayMatch((ServletWebRequest) request);
    }

    @Override
    public Endpoint resolve(WebRequest request) {
        // the filter creates only requests of this type
        ServletWebRequest web = (ServletWebRequest) request;
        try {
            if (!dispatchers.isForSpringMvc(web.request())) {
                return Endpoint.UNMAPPED;
            }
            Endpoint known = watch.sawChange() ? null : findLiteral(web.request());
            return known != null ? known : findMapped(web.request(), web.path());
        } catch (RuntimeException e) {
            web.fail(e);
            return closestTo(web.request());
        }
    }

    /** The endpoint of a path without variables; {@code null} if it must be parsed. The same result as {@link #findMapped}. */
    private @Nullable Endpoint findLiteral(HttpServletRequest request) {
        String path = ServletPaths.writtenPathOf(request);
        List<MappedRoutes.Route> candidates = path == null ? null : literal.get(path);
        return candidates == null ? null : MappedRoutes.plainEndpoint(candidates, request);
    }

    /**
     * Finds the endpoint of the request.
     *
     * @param path the path as Spring MVC sees it
     * @throws RuntimeException if the request cannot be read, and the dispatcher would not notice
     */
    public Endpoint find(HttpServletRequest request, PathContainer path) {
        return dispatchers.isForSpringMvc(request) ? findMapped(request, path) : Endpoint.UNMAPPED;
    }

    private Endpoint findMapped(HttpServletRequest request, PathContainer path) {
        try {
            return lookUp(request, path);
        } catch (RuntimeException e) {
            if (!failsAgain(request, path)) {
                throw e;
            }
        } catch (Exception mismatch) {
            // wrong method, media type or parameters
        }
        // the dispatcher gets the same exception and answers it: 405, 415, 406, 400, or a response of the application
        return closestTo(request);
    }

    /** Some servers report only once that they cannot read a request. */
    private boolean failsAgain(HttpServletRequest request, PathContainer path) {
        try {
            lookUp(request, path);
            return false;
        } catch (Exception again) {
            return true;
        }
    }

    /** Asks the mappings in order. Most requests lead to a plain route, which needs no view of the request. */
    private Endpoint lookUp(HttpServletRequest request, PathContainer path) throws Exception {
        HttpServletRequest view = null;
        for (int i = 0; i < mappings.size(); i++) {
            HandlerMapping mapping = mappings.get(i);
            MappedRoutes known = watch.hasSeenChange() ? null : routesOf.get(mapping);
            List<MappedRoutes.Route> candidates = known == null ? List.of() : known.candidates(path);
            if (known != null && candidates.isEmpty()) {
                continue;
            }
            Endpoint plain = MappedRoutes.plainEndpoint(candidates, request);
            if (plain != null) {
                return plain;
            }
            if (view == null) {
                view = new AttributeKeepingRequest(request);
                ServletRequestPathUtils.parseAndCache(view);
            }
            Endpoint endpoint = find(mapping, candidates, view, path);
            if (endpoint != null) {
                return endpoint;
            }
        }
        return Endpoint.NOWHERE;
    }

    private @Nullable Endpoint find(
            HandlerMapping mapping, List<MappedRoutes.Route> candidates, HttpServletRequest view, PathContainer path)
            throws Exception {
        MappedRoutes.Match best = candidates.isEmpty() ? null : MappedRoutes.best(candidates, view);
        if (best != null) {
            return endpointOf(best.handler(), best.pattern());
        }
        HandlerExecutionChain chain = mapping.getHandler(view);
        if (chain == null) {
            return null;
        }
        // the handler of static files is asked for every path without another mapping
        return StaticFiles.isMissing(mapping, chain.getHandler(), view, path)
                ? Endpoint.NOWHERE
                : endpointOf(chain, view);
    }

    private @Nullable Endpoint endpointOf(HandlerMethod handler, PathPattern pattern) {
        return byHandler.get(new Mapped(handler, pattern.getPatternString()));
    }

    private Endpoint endpointOf(HandlerExecutionChain chain, HttpServletRequest view) {
        Object best = view.getAttribute(BEST_MATCHING_HANDLER_ATTRIBUTE);
        Object handler = best != null ? best : chain.getHandler();
        Object pattern = view.getAttribute(BEST_MATCHING_PATTERN_ATTRIBUTE);
        if (pattern == null) {
            // a handler of Spring answers OPTIONS for the endpoint
            return handler instanceof HandlerMethod ? closestTo(view) : Endpoint.UNMAPPED;
        }
        String text = pattern.toString();
        Endpoint known = handler instanceof HandlerMethod method ? byHandler.get(new Mapped(method, text)) : null;
        return known != null
                ? known
                : Endpoint.of(
                        handler instanceof HandlerMethod ? List.of(methodOf(view)) : List.of(),
                        PathPatternParser.defaultInstance.parse(text));
    }

    /** The most specific endpoint by path alone, preferably one for the request's method. */
    Endpoint closestTo(HttpServletRequest request) {
        String method = methodOf(request);
        List<Endpoint> endpoints = new ArrayList<>(routes.find(paths.pathOf(request)));
        endpoints.sort(Comparator.comparing(Endpoints::patternOf, PathPattern.SPECIFICITY_COMPARATOR)
                .thenComparing(endpoint -> !isFor(endpoint, method))
                .thenComparing(Endpoint::id));
        return endpoints.isEmpty() ? Endpoint.NOWHERE : endpoints.get(0);
    }

    /** What the handler of a request from another origin allows, or {@code null} if it has no configuration. */
    public @Nullable CorsConfiguration corsConfiguration(HttpServletRequest request) {
        HttpServletRequest view = new AttributeKeepingRequest(request);
        try {
            ServletRequestPathUtils.parseAndCache(view);
            for (HandlerMapping mapping : mappings) {
                HandlerExecutionChain chain = mapping.getHandler(view);
                if (chain != null) {
                    return corsConfiguration(chain, view);
                }
            }
        } catch (Exception mismatch) {
            // no handler, so no CORS configuration of its own
        }
        return null;
    }

    private static @Nullable CorsConfiguration corsConfiguration(HandlerExecutionChain chain, HttpServletRequest view) {
        for (HandlerInterceptor interceptor : chain.getInterceptorList()) {
            if (interceptor instanceof CorsConfigurationSource source) {
                return source.getCorsConfiguration(view);
            }
        }
        return null;
    }

    private static String methodOf(HttpServletRequest request) {
        return Endpoint.methodOf(request.getMethod());
    }

    private static boolean isFor(Endpoint endpoint, String method) {
        String methods = endpoint.id().substring(0, endpoint.id().indexOf(' '));
        return List.of(methods.split(",", -1)).contains(method);
    }

    private static PathPattern patternOf(Endpoint endpoint) {
        return Objects.requireNonNull(endpoint.pattern());
    }
}
