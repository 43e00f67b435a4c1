package dev.ratelimit.spring.servlet.endpoint;

import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE;
import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE;
import static org.springframework.web.servlet.HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.boot.endpoint.KnownEndpoints;
import dev.ratelimit.spring.boot.endpoint.KnownEndpoints.Route;
import dev.ratelimit.spring.boot.endpoint.RegistrationWatch;
import dev.ratelimit.spring.boot.endpoint.RouteIndex;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.servlet.request.AttributeKeepingRequest;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.filter.ServerHttpObservationFilter;
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
import org.springframework.web.util.pattern.PatternParseException;

/**
 * The endpoints of the application, and which of them a request leads to: the one that the dispatcher will find, with
 * the same handler mappings, but earlier. Thread-safe.
 */
public final class Endpoints implements EndpointResolver {

    private static final String VARIABLES = Endpoints.class.getName() + ".variables";

    private final Dispatchers dispatchers;
    private final ServletPaths paths;
    private final List<HandlerMapping> mappings;

    /** Since routes have changed, what was read of them is not used. */
    private final RegistrationWatch watch;

    /** The mappings whose routes are indexed by path; all others are asked about every path. */
    private final Map<RequestMappingInfoHandlerMapping, RouteIndex<Route<HttpServletRequest>>> indexed =
            new HashMap<>();

    /** The routes that match a path without variables and wildcards, by this path, as far as no other mapping is asked. */
    private final Map<String, List<Route<HttpServletRequest>>> literal = new HashMap<>();

    /** Whether a mapping may lead to an endpoint whose pattern does not match the path. */
    private boolean unindexed;

    /** Whether a mapping finds handlers by paths with any suffix, an option of Spring Framework 6. */
    private boolean ignoresSuffixes;

    private final KnownEndpoints<HttpServletRequest> known;
    private final boolean routes;

    /** Reads the endpoints of these mappings, of an application without a gateway. */
    public Endpoints(
            List<HandlerMapping> mappings,
            Dispatchers dispatchers,
            BiPredicate<Endpoint, HandlerMethod> saySomething,
            Ticker ticker) {
        this(mappings, dispatchers, saySomething, false, ticker);
    }

    /**
     * Reads the endpoints of these mappings.
     *
     * @param mappings in the order in which the dispatcher asks them
     * @param dispatchers which requests the dispatcher handles
     * @param saySomething whether the annotations of a handler method concern its endpoint
     * @param routes whether there are routes of a gateway, which are only known when their handlers are called
     * @param ticker when to look for controllers that come later
     */
    public Endpoints(
            List<HandlerMapping> mappings,
            Dispatchers dispatchers,
            BiPredicate<Endpoint, HandlerMethod> saySomething,
            boolean routes,
            Ticker ticker) {
        this.routes = routes;
        this.known = new KnownEndpoints<>(saySomething);
        this.mappings = mappings.stream().filter(mapping -> !isUnused(mapping)).toList();
        this.dispatchers = dispatchers;
        this.paths = new ServletPaths(dispatchers);
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof RequestMappingInfoHandlerMapping controllers) {
                controllers.getHandlerMethods().forEach((info, handler) -> add(controllers, info, handler));
                if (MvcConditions.areAll(mapping)) {
                    indexed.put(controllers, known.routesOf(mapping));
                }
            }
            unindexed |= !isSprings(mapping)
                    || (mapping instanceof RequestMappingInfoHandlerMapping other && !other.usesPathPatterns());
        }
        this.watch = new RegistrationWatch(
                "Spring MVC",
                indexed.keySet().stream()
                        .map(mapping -> RegistrationWatch.Mapping.of(mapping, mapping::getHandlerMethods))
                        .toList(),
                ticker);
        addLiteral();
    }

    private void add(RequestMappingInfoHandlerMapping mapping, RequestMappingInfo info, HandlerMethod handler) {
        known.add(mapping, info.getMethodsCondition().getMethods(), patterns(info), MvcConditions.of(info), handler);
        ignoresSuffixes |= addsSuffix(info);
    }

    /** Mappings after one that must be asked have no say, as it comes first. */
    private void addLiteral() {
        List<RouteIndex<Route<HttpServletRequest>>> before = new ArrayList<>();
        for (HandlerMapping mapping : mappings) {
            RouteIndex<Route<HttpServletRequest>> index = indexed.get(mapping);
            if (index == null || !(mapping instanceof RequestMappingInfoHandlerMapping controllers)) {
                return;
            }
            before.add(index);
            controllers.getHandlerMethods().keySet().stream()
                    .flatMap(info -> info.getDirectPaths().stream())
                    .forEach(path -> literal.computeIfAbsent(path, text -> firstOf(before, text)));
        }
    }

    /** The routes of the first mapping that has any for this path. */
    private static List<Route<HttpServletRequest>> firstOf(
            List<RouteIndex<Route<HttpServletRequest>>> mappings, String path) {
        PathContainer parsed = PathContainer.parsePath(path);
        return mappings.stream()
                .map(index -> index.find(parsed))
                .filter(found -> !found.isEmpty())
                .findFirst()
                .orElse(List.of());
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

    /** Whether the mapping looks for a pattern with a suffix behind it. */
    @SuppressWarnings({"deprecation", "removal"}) // Spring Framework 7 still has it
    private static boolean addsSuffix(RequestMappingInfo info) {
        var condition = info.getPatternsCondition();
        return condition != null
                && condition.getPatterns().stream()
                        .anyMatch(pattern ->
                                condition.getMatchingPatterns(pattern + ".x").contains(pattern + ".*"));
    }

    /**
     * The mapping's own patterns: parsing one again, for example without regard to case, may reject what the mapping
     * accepts.
     */
    private static Map<String, PathPattern> patterns(RequestMappingInfo info) {
        PathPatternsRequestCondition condition = info.getPathPatternsCondition();
        if (condition != null) {
            return KnownEndpoints.byText(condition.getPatterns());
        }
        Map<String, PathPattern> patterns = new LinkedHashMap<>();
        info.getPatternValues().forEach(text -> patterns.put(text, covering(text)));
        return patterns;
    }

    /** A pattern that matches what one of an {@code AntPathMatcher} matches, if nothing else can read that, and more. */
    private static PathPattern covering(String text) {
        try {
            return PathPatternParser.defaultInstance.parse(text);
        } catch (PatternParseException unreadable) {
            String plain = text.split("[*?{]", 2)[0];
            return PathPatternParser.defaultInstance.parse(plain.substring(0, plain.lastIndexOf('/') + 1) + "**");
        }
    }

    @Override
    public boolean mayLeadToAnnotated(WebRequest request) {
        // without annotations, the path need not be parsed
        return known.anyAnnotated() && mayLeadToAnnotated(request.path());
    }

    public boolean mayLeadToAnnotated(PathContainer path) {
        return known.anyAnnotated() && (unindexed || known.matchAnnotated(path));
    }

    @Override
    public boolean mayLeadToManagement(WebRequest request) {
        return known.management().mayMatch(request, ((ServletWebRequest) request).writtenPath());
    }

    @Override
    public boolean ignoresSuffixes() {
        return ignoresSuffixes;
    }

    @Override
    public boolean haveRoutes() {
        return routes;
    }

    @Override
    public boolean knowRoutes() {
        return false;
    }

    @Override
    @SuppressWarnings("unchecked") // nobody else knows the attribute
    public @Nullable Map<String, String> variables(WebRequest request) {
        return unindexed && request instanceof ServletWebRequest web
                ? (Map<String, String>) web.request().getAttribute(VARIABLES)
                : null;
    }

    @Override
    public Endpoint resolve(WebRequest request) {
        // the filter creates only requests of this type
        ServletWebRequest web = (ServletWebRequest) request;
        try {
            if (!dispatchers.isForSpringMvc(web.request())) {
                return Endpoint.UNMAPPED;
            }
            Endpoint found = watch.sawChange() ? null : findLiteral(web);
            return found != null ? found : findMapped(web.request(), web.path());
        } catch (RuntimeException e) {
            web.fail(e);
            return closestTo(web.request());
        }
    }

    /** The endpoint of a path without variables; {@code null} if it must be parsed. The same result as {@link #findMapped}. */
    private @Nullable Endpoint findLiteral(ServletWebRequest request) {
        String path = request.writtenPath();
        List<Route<HttpServletRequest>> matching = path == null ? null : literal.get(path);
        return matching == null ? null : certain(matching, request.request(), null);
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

    /** Asks the mappings in order, but for those whose answer is certain. Most requests need no view for that. */
    private Endpoint lookUp(HttpServletRequest request, PathContainer path) throws Exception {
        AttributeKeepingRequest view = null;
        for (int i = 0; i < mappings.size(); i++) {
            HandlerMapping mapping = mappings.get(i);
            RouteIndex<Route<HttpServletRequest>> index = watch.hasSeenChange() ? null : indexed.get(mapping);
            List<Route<HttpServletRequest>> matching = index == null ? null : index.find(path);
            Endpoint certain = matching == null ? null : certain(matching, request, null);
            if (certain == Endpoint.NOWHERE) {
                continue;
            }
            if (certain != null) {
                return certain;
            }
            if (view == null) {
                view = new AttributeKeepingRequest(request);
                ServletRequestPathUtils.parseAndCache(view);
            }
            certain = matching == null ? null : certain(matching, request, view);
            Endpoint found = certain != null ? certain : ask(mapping, view, path);
            if (found != null) {
                return found;
            }
        }
        return Endpoint.NOWHERE;
    }

    private @Nullable Endpoint ask(HandlerMapping mapping, AttributeKeepingRequest view, PathContainer path)
            throws Exception {
        HandlerExecutionChain chain = mapping.getHandler(view);
        if (chain == null) {
            return null;
        }
        if (unindexed) {
            // it may read them from another path than the one that the client has sent
            view.getRequest().setAttribute(VARIABLES, view.getAttribute(URI_TEMPLATE_VARIABLES_ATTRIBUTE));
        }
        // the handler of static files is asked for every path without another mapping
        return StaticFiles.isMissing(mapping, chain.getHandler(), view, path)
                ? Endpoint.NOWHERE
                : endpointOf(chain, view);
    }

    private static @Nullable Endpoint certain(
            List<Route<HttpServletRequest>> matching,
            HttpServletRequest request,
            @Nullable AttributeKeepingRequest view) {
        Endpoint certain = KnownEndpoints.certain(matching, request.getMethod(), view);
        PathPattern pattern = certain == null ? null : certain.pattern();
        if (pattern != null) {
            observe(request, pattern);
        }
        return certain;
    }

    /** As in the mapping: refused requests are observed under their pattern, and not as unknown. */
    private static void observe(HttpServletRequest request, PathPattern pattern) {
        Optional<ServerRequestObservationContext> observed =
                ServerHttpObservationFilter.findObservationContext(request);
        if (observed.isPresent()) {
            observed.get().setPathPattern(pattern.getPatternString());
        }
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
        Endpoint found = handler instanceof HandlerMethod method ? known.of(method, text) : null;
        return found != null
                ? found
                : Endpoint.of(
                        handler instanceof HandlerMethod ? List.of(methodOf(view)) : List.of(), text, covering(text));
    }

    /** The most specific endpoint by path alone, preferably one for the request's method. */
    Endpoint closestTo(HttpServletRequest request) {
        return known.closestTo(paths.pathOf(request), request.getMethod());
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
}
