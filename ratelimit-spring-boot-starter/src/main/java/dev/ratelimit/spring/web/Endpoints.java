package dev.ratelimit.spring.web;

import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE;
import static org.springframework.web.servlet.HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE;

import dev.ratelimit.spring.Rule;
import dev.ratelimit.spring.RuleMatch;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The endpoints of the application, and which of them a request leads to: asked of the handler mappings themselves, before
 * the dispatcher does. Immutable and thread-safe.
 */
public final class Endpoints {

    private record Mapped(HandlerMethod handler, String pattern) {}

    private record Route(PathPattern pattern, Endpoint endpoint) {}

    private final List<HandlerMapping> mappings;
    private final Map<Mapped, Endpoint> byHandler = new HashMap<>();

    /** Every route, the most specific pattern first, for requests that miss only the method or the type. */
    private final List<Route> routes = new ArrayList<>();

    private final List<PathPattern> withRules;

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
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(false);
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof RequestMappingInfoHandlerMapping annotated) {
                annotated
                        .getHandlerMethods()
                        .forEach((info, handler) ->
                                add(info, handler, rules.apply(handler), exempt.test(handler), parser));
            }
        }
        routes.sort(Comparator.comparing(Route::pattern)
                .thenComparing(route -> route.endpoint().id()));
        this.withRules = routes.stream()
                .filter(route ->
                        !route.endpoint().rules().isEmpty() || route.endpoint().exempt())
                .map(Route::pattern)
                .toList();
    }

    private void add(
            RequestMappingInfo info,
            HandlerMethod handler,
            List<Rule> rules,
            boolean exempt,
            PathPatternParser parser) {
        String methods = info.getMethodsCondition().getMethods().stream()
                .map(method -> RuleMatch.methodOf(method.name()))
                .distinct()
                .sorted()
                .collect(Collectors.joining(","));
        for (String pattern : info.getPatternValues()) {
            PathPattern parsed = parser.parse(pattern);
            Endpoint endpoint =
                    new Endpoint((methods.isEmpty() ? "ANY" : methods) + " " + pattern, parsed, rules, exempt);
            byHandler.put(new Mapped(handler, pattern), endpoint);
            routes.add(new Route(parsed, endpoint));
        }
    }

    /** Whether an endpoint with rules of its own can be meant; decides without a look-up. */
    boolean mayHaveRules(PathContainer path) {
        for (PathPattern pattern : withRules) {
            if (pattern.matches(path)) {
                return true;
            }
        }
        return false;
    }

    /** Where the request leads. */
    Endpoint find(HttpServletRequest request) {
        HttpServletRequest view = new AttributeKeepingRequest(request);
        PathContainer path = ServletRequestPathUtils.parseAndCache(view).pathWithinApplication();
        try {
            for (HandlerMapping mapping : mappings) {
                HandlerExecutionChain chain = mapping.getHandler(view);
                if (chain != null) {
                    return endpointOf(chain, view, path);
                }
            }
            return Endpoint.UNMAPPED;
        } catch (Exception mismatch) {
            // wrong method, type or parameters: the dispatcher will meet the same exception and answer 405, 415, 406 or
            // 400
            return missed(path);
        }
    }

    private Endpoint endpointOf(HandlerExecutionChain chain, HttpServletRequest view, PathContainer path) {
        Object best = view.getAttribute(BEST_MATCHING_HANDLER_ATTRIBUTE);
        Object handler = best != null ? best : chain.getHandler();
        Object pattern = view.getAttribute(BEST_MATCHING_PATTERN_ATTRIBUTE);
        if (pattern == null) {
            // OPTIONS is answered for the endpoint by a handler of Spring's own; else a static file, or nothing
            return handler instanceof HandlerMethod ? missed(path) : Endpoint.UNMAPPED;
        }
        Endpoint known = handler instanceof HandlerMethod method ? find(method, pattern.toString()) : null;
        return known != null
                ? known
                : new Endpoint(methodOf(view) + " " + pattern, parse(pattern.toString()), List.of(), false);
    }

    /** What the handler of a request from another origin allows, or {@code null} where there is nothing about it. */
    public @Nullable CorsConfiguration corsConfiguration(HttpServletRequest request) {
        HttpServletRequest view = new AttributeKeepingRequest(request);
        ServletRequestPathUtils.parseAndCache(view);
        try {
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

    /** As seen from other mappings: of a router function, say. */
    private static PathPattern parse(String pattern) {
        return PathPatternParser.defaultInstance.parse(pattern);
    }

    /** The path below the context path, as Spring MVC sees it. */
    PathContainer pathOf(HttpServletRequest request) {
        return ServletRequestPathUtils.parse(request).pathWithinApplication();
    }

    private @Nullable Endpoint find(HandlerMethod handler, String pattern) {
        return byHandler.get(new Mapped(handler, pattern));
    }

    private Endpoint missed(PathContainer path) {
        for (Route route : routes) {
            if (route.pattern().matches(path)) {
                return route.endpoint();
            }
        }
        return Endpoint.UNMAPPED;
    }

    /** Names that clients invent are all one. */
    private static String methodOf(HttpServletRequest request) {
        String method = RuleMatch.methodOf(request.getMethod());
        return RuleMatch.METHODS.contains(method) ? method : "ANY";
    }
}
