package dev.ratelimit.spring.web;

import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE;
import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE;

import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleMatch;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The endpoints of the application, and which of them a request leads to: decided as the dispatcher will decide it, by the
 * handler mappings, but before it does. Immutable and thread-safe.
 */
public final class Endpoints {

    private record Mapped(HandlerMethod handler, String pattern) {}

    private final Dispatchers dispatchers = new Dispatchers();
    private final List<HandlerMapping> mappings;

    /** The mappings whose routes can be looked up by path; the others are asked. */
    private final Map<HandlerMapping, MappedRoutes> routesOf = new HashMap<>();

    /** Whether some mapping matches paths in a way of its own. */
    private boolean unindexed;

    private final Map<Mapped, Endpoint> byHandler = new HashMap<>();

    /** Every route, for requests that miss only the method or the type. */
    private final RouteIndex<Endpoint> routes = new RouteIndex<>();

    /** The routes of endpoints about which there is something to know. */
    private final RouteIndex<Endpoint> withRules = new RouteIndex<>();

    /**
     * The endpoints of these mappings.
     *
     * @param mappings in the order in which the dispatcher asks them
     * @param rules the rules of a handler method's annotations
     * @param exempt whether a handler method is taken out of all rules
     */
    public Endpoints(
            List<HandlerMapping> mappings, Function<HandlerMethod, List<Rule>> rules, Predicate<HandlerMethod> exempt) {
        this.mappings = List.copyOf(mappings);
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof RequestMappingInfoHandlerMapping annotated) {
                annotated
                        .getHandlerMethods()
                        .forEach((info, handler) -> add(info, handler, rules.apply(handler), exempt.test(handler)));
            }
            unindexed |= mapping instanceof RequestMappingInfoHandlerMapping other && !other.usesPathPatterns();
            if (MappedRoutes.canStandFor(mapping)) {
                routesOf.put(mapping, new MappedRoutes((RequestMappingInfoHandlerMapping) mapping));
            }
        }
    }

    private void add(RequestMappingInfo info, HandlerMethod handler, List<Rule> rules, boolean exempt) {
        String methods = info.getMethodsCondition().getMethods().stream()
                .map(method -> RuleMatch.methodOf(method.name()))
                .distinct()
                .sorted()
                .collect(Collectors.joining(","));
        for (PathPattern pattern : patterns(info)) {
            String text = pattern.getPatternString();
            Endpoint endpoint =
                    new Endpoint((methods.isEmpty() ? "ANY" : methods) + " " + text, pattern, rules, exempt);
            byHandler.put(new Mapped(handler, text), endpoint);
            routes.add(pattern, endpoint);
            if (!rules.isEmpty() || exempt) {
                withRules.add(pattern, endpoint);
            }
        }
    }

    /** The mapping's own patterns: one that is parsed anew, for any case say, may reject what the mapping accepts. */
    private static Collection<PathPattern> patterns(RequestMappingInfo info) {
        PathPatternsRequestCondition condition = info.getPathPatternsCondition();
        return condition != null
                ? condition.getPatterns()
                : info.getPatternValues().stream()
                        .map(PathPatternParser.defaultInstance::parse)
                        .toList();
    }

    /** The path of a request below the context path: as Spring MVC sees it, or, of another servlet, as the server does. */
    PathContainer pathOf(HttpServletRequest request) {
        if (dispatchers.isMeantBy(request)) {
            try {
                return ServletRequestPathUtils.parse(request).pathWithinApplication();
            } catch (IllegalArgumentException e) {
                // the servlet's own path is written in another way than the server read it, which Spring does not take
            }
        }
        return read(request);
    }

    /** The path as the server has read it, without that of Spring MVC's servlet. */
    private PathContainer read(HttpServletRequest request) {
        String info = Objects.requireNonNullElse(request.getPathInfo(), "");
        boolean below = !info.isEmpty() && dispatchers.isMeantBy(request);
        String path = below ? info : request.getServletPath() + info;
        return PathContainer.parsePath(UriUtils.encodePath(path, StandardCharsets.UTF_8));
    }

    /** The path as the server has read it, if it is written with empty or dot segments, or {@code null}. */
    @Nullable
    PathContainer readPathOf(HttpServletRequest request) {
        String written = request.getRequestURI();
        boolean plain = !written.contains("//")
                && !written.contains("/.")
                && written.indexOf(';') < 0
                && written.indexOf('%') < 0;
        return plain ? null : read(request);
    }

    /** Whether an endpoint about which there is something to know can be meant; decides without a look-up. */
    boolean mayHaveRules(PathContainer path) {
        return unindexed || withRules.matchesAny(path);
    }

    /**
     * Where the request leads.
     *
     * @throws RuntimeException when the request cannot be read, as the dispatcher will find, too
     */
    Endpoint find(HttpServletRequest request) {
        if (!dispatchers.isMeantBy(request)) {
            return Endpoint.UNMAPPED;
        }
        HttpServletRequest view = new AttributeKeepingRequest(request);
        try {
            PathContainer path = ServletRequestPathUtils.parseAndCache(view).pathWithinApplication();
            for (HandlerMapping mapping : mappings) {
                Endpoint endpoint = find(mapping, view, path);
                if (endpoint != null) {
                    return endpoint;
                }
            }
            return Endpoint.UNMAPPED;
        } catch (RuntimeException broken) {
            throw broken;
        } catch (Exception mismatch) {
            // wrong method, type or parameters: the dispatcher will meet the same exception and answer 405, 415, 406 or
            // 400
            return missed(request);
        }
    }

    private @Nullable Endpoint find(HandlerMapping mapping, HttpServletRequest view, PathContainer path)
            throws Exception {
        MappedRoutes known = routesOf.get(mapping);
        if (known != null) {
            List<MappedRoutes.Route> candidates = known.candidates(path);
            if (candidates.isEmpty()) {
                return null;
            }
            MappedRoutes.Match best = known.best(candidates, view);
            if (best != null) {
                return byHandler.get(new Mapped(best.handler(), best.pattern()));
            }
        }
        HandlerExecutionChain chain = mapping.getHandler(view);
        return chain == null ? null : endpointOf(chain, view);
    }

    private Endpoint endpointOf(HandlerExecutionChain chain, HttpServletRequest view) {
        Object best = view.getAttribute(BEST_MATCHING_HANDLER_ATTRIBUTE);
        Object handler = best != null ? best : chain.getHandler();
        Object pattern = view.getAttribute(BEST_MATCHING_PATTERN_ATTRIBUTE);
        if (pattern == null) {
            // OPTIONS is answered for the endpoint by a handler of Spring's own; else a static file, or nothing
            return handler instanceof HandlerMethod ? missed(view) : Endpoint.UNMAPPED;
        }
        String text = pattern.toString();
        Endpoint known = handler instanceof HandlerMethod method ? byHandler.get(new Mapped(method, text)) : null;
        return known != null
                ? known
                : new Endpoint(
                        (handler instanceof HandlerMethod ? methodOf(view) : "ANY") + " " + text,
                        PathPatternParser.defaultInstance.parse(text),
                        List.of(),
                        false);
    }

    /** The most specific of those that the path alone leads to, if possible one for the request's method. */
    Endpoint missed(HttpServletRequest request) {
        String method = methodOf(request);
        List<Endpoint> endpoints = new ArrayList<>(routes.find(pathOf(request)));
        endpoints.sort(Comparator.comparing(Endpoint::specificity, PathPattern.SPECIFICITY_COMPARATOR)
                .thenComparing(endpoint -> !endpoint.isFor(method))
                .thenComparing(Endpoint::id));
        return endpoints.isEmpty() ? Endpoint.UNMAPPED : endpoints.get(0);
    }

    /** What the handler of a request from another origin allows, or {@code null} where there is nothing about it. */
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
            // no handler, no rules of its own
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

    /** Names that clients invent are all one. */
    private static String methodOf(HttpServletRequest request) {
        String method = RuleMatch.methodOf(request.getMethod());
        return RuleMatch.METHODS.contains(method) ? method : "ANY";
    }
}
