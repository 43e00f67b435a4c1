package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.boot.endpoint.KnownEndpoints;
import dev.ratelimit.spring.boot.endpoint.KnownEndpoints.Route;
import dev.ratelimit.spring.boot.endpoint.RegistrationWatch;
import dev.ratelimit.spring.boot.endpoint.RouteIndex;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.server.support.RouterFunctionMapping;
import org.springframework.web.reactive.handler.AbstractUrlHandlerMapping;
import org.springframework.web.reactive.resource.ResourceWebHandler;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The endpoints of the application, and which of them a request leads to. Mappings of controllers are asked, unless path and
 * method alone tell what they find. Others have side effects, such as reading the body, so they are not asked: where their
 * routes cannot tell, WebFlux itself finds the handler before the request is charged. Thread-safe.
 */
public final class Endpoints implements EndpointResolver {

    /** A mapping that never finds anything. */
    private static final String EMPTY =
            "org.springframework.web.reactive.config.WebFluxConfigurationSupport$EmptyHandlerMapping";

    private final List<HandlerMapping> mappings;
    private final RegistrationWatch watch;
    private final Map<RequestMappingInfoHandlerMapping, RouteIndex<Route<ServerWebExchange>>> controllers =
            new HashMap<>();
    private final Map<HandlerMapping, FunctionalRoutes> functions = new HashMap<>();
    private final KnownEndpoints<ServerWebExchange> known;
    private final BooleanSupplier routes;

    /** Whether a mapping may lead to an endpoint whose pattern does not match the path. */
    private final boolean unindexed;

    /**
     * Reads the endpoints of these mappings.
     *
     * @param mappings in the order in which the dispatcher asks them
     * @param saySomething whether the annotations of a handler method concern its endpoint
     * @param routes whether functional routes have limits, which are charged after those of endpoints
     * @param ticker when to look for controllers that come later
     */
    public Endpoints(
            List<HandlerMapping> mappings,
            BiPredicate<Endpoint, HandlerMethod> saySomething,
            BooleanSupplier routes,
            Ticker ticker) {
        this.routes = routes;
        this.mappings = mappings.stream().filter(mapping -> !isUnused(mapping)).toList();
        this.known = new KnownEndpoints<>(saySomething);
        this.mappings.forEach(this::read);
        this.unindexed = this.mappings.stream()
                .anyMatch(mapping -> !mapping.getClass().getName().startsWith("org.springframework."));
        this.watch = new RegistrationWatch(
                "WebFlux",
                controllers.keySet().stream()
                        .map(mapping -> RegistrationWatch.Mapping.of(mapping, mapping::getHandlerMethods))
                        .toList(),
                ticker);
    }

    /** Whether the mapping never finds anything. */
    static boolean isUnused(HandlerMapping mapping) {
        return mapping.getClass().getName().equals(EMPTY)
                || (mapping instanceof RouterFunctionMapping functional && functional.getRouterFunction() == null);
    }

    private void read(HandlerMapping mapping) {
        if (mapping instanceof RequestMappingInfoHandlerMapping own) {
            own.getHandlerMethods().forEach((info, handler) -> add(own, info, handler));
            if (WebFluxConditions.areAll(own)) {
                controllers.put(own, known.routesOf(own));
            }
        } else if (mapping.getClass() == RouterFunctionMapping.class
                && mapping instanceof RouterFunctionMapping functional
                && functional.getRouterFunction() != null) {
            functions.put(
                    mapping, new FunctionalRoutes(functional.getRouterFunction(), functional.getPathPatternParser()));
        }
    }

    private void add(RequestMappingInfoHandlerMapping mapping, RequestMappingInfo info, HandlerMethod handler) {
        known.add(
                mapping,
                info.getMethodsCondition().getMethods(),
                KnownEndpoints.byText(info.getPatternsCondition().getPatterns()),
                WebFluxConditions.of(info),
                handler);
    }

    @Override
    public boolean mayLeadToAnnotated(WebRequest request) {
        return known.anyAnnotated() && (unindexed || known.matchAnnotated(request.path()));
    }

    @Override
    public boolean mayLeadToManagement(WebRequest request) {
        return known.management().mayMatch(request, null);
    }

    @Override
    public boolean haveRoutes() {
        return routes.getAsBoolean();
    }

    @Override
    public Endpoint resolve(WebRequest request) {
        // the filters create only requests of this type
        ReactiveWebRequest web = (ReactiveWebRequest) request;
        Endpoint found = web.endpoint();
        return found != null ? found : find(web.exchange()).endpoint();
    }

    @Override
    public @Nullable Endpoint known(WebRequest request) {
        return request instanceof ReactiveWebRequest web ? web.endpoint() : null;
    }

    @Override
    public boolean isGuess(WebRequest request) {
        return request instanceof ReactiveWebRequest web && web.isGuessed();
    }

    /** Where a request leads, as far as its path, its headers and its query tell. */
    public Found find(ServerWebExchange exchange) {
        PathContainer path = exchange.getRequest().getPath().pathWithinApplication();
        if (watch.sawChange()) {
            return new Found(closestTo(exchange), false);
        }
        try {
            for (HandlerMapping mapping : mappings) {
                Found found = find(mapping, exchange, path);
                if (found != null) {
                    return found;
                }
            }
        } catch (RuntimeException mismatch) {
            // WebFlux gets the same exception, and answers it
            return new Found(closestTo(exchange), true);
        }
        return new Found(Endpoint.NOWHERE, true);
    }

    private @Nullable Found find(HandlerMapping mapping, ServerWebExchange exchange, PathContainer path) {
        RouteIndex<Route<ServerWebExchange>> index = controllers.get(mapping);
        if (index != null && mapping instanceof RequestMappingInfoHandlerMapping own) {
            return find(own, index.find(path), exchange);
        }
        FunctionalRoutes functional = functions.get(mapping);
        if (functional != null) {
            boolean preflight = CorsUtils.isPreFlightRequest(exchange.getRequest());
            return functional.find(path, exchange.getRequest().getMethod(), preflight);
        }
        if (mapping instanceof AbstractUrlHandlerMapping urls) {
            return StaticFiles.best(urls.getHandlerMap(), path) == null ? null : new Found(Endpoint.UNMAPPED, false);
        }
        return new Found(closestTo(exchange), false);
    }

    private @Nullable Found find(
            RequestMappingInfoHandlerMapping mapping,
            List<Route<ServerWebExchange>> matching,
            ServerWebExchange exchange) {
        String method = exchange.getRequest().getMethod().name();
        Endpoint certain = KnownEndpoints.certain(matching, method, null);
        ServerWebExchange view = exchange;
        if (certain == null) {
            view = new AttributeKeepingExchange(exchange);
            certain = KnownEndpoints.certain(matching, method, view);
        }
        if (certain != null) {
            return certain == Endpoint.NOWHERE ? null : new Found(certain, true);
        }
        // it answers at once, and changes nothing but attributes
        HandlerMethod found = mapping.getHandlerInternal(view).toFuture().join();
        return found == null ? null : new Found(ofMethod(view), true);
    }

    /** The endpoint of a request before WebFlux finds it: a file, or the best guess. */
    public Mono<Endpoint> guess(ServerWebExchange exchange, Found found) {
        return found.endpoint() == Endpoint.UNMAPPED
                ? findFile(exchange).defaultIfEmpty(found.endpoint())
                : Mono.just(found.endpoint());
    }

    /** Whether a static file has the path of a request whose endpoint is not certain; empty if it leads to none. */
    private Mono<Endpoint> findFile(ServerWebExchange exchange) {
        PathContainer path = exchange.getRequest().getPath().pathWithinApplication();
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof AbstractUrlHandlerMapping urls) {
                Map.Entry<PathPattern, Object> best = StaticFiles.best(urls.getHandlerMap(), path);
                if (best != null && best.getValue() instanceof ResourceWebHandler files) {
                    return new StaticFiles(files, best.getKey()).endpointOf(exchange, path);
                }
                if (best != null) {
                    return Mono.just(Endpoint.UNMAPPED);
                }
            } else if (!controllers.containsKey(mapping) && !functions.containsKey(mapping)) {
                return Mono.empty();
            }
        }
        return Mono.empty();
    }

    /** The endpoint of the handler that WebFlux has found. */
    public Mono<Endpoint> endpointOf(ServerWebExchange exchange, Object handler) {
        if (handler instanceof HandlerMethod) {
            return Mono.just(ofMethod(exchange));
        }
        if (handler instanceof ResourceWebHandler) {
            return findFile(exchange).defaultIfEmpty(Endpoint.UNMAPPED);
        }
        PathPattern pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return Mono.just(pattern == null || isAtUrl(handler) ? Endpoint.UNMAPPED : Endpoint.of(List.of(), pattern));
    }

    /** The endpoint of the handler method that a mapping has found. */
    private Endpoint ofMethod(ServerWebExchange exchange) {
        PathPattern pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        // the mapping's own; the other one has the bean in place of its name
        HandlerMethod mapped = exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
        if (pattern == null || mapped == null) {
            // a handler of Spring answers OPTIONS for the endpoint
            return closestTo(exchange);
        }
        Endpoint endpoint = known.of(mapped, pattern.getPatternString());
        return endpoint == null ? byMethod(exchange, pattern) : endpoint;
    }

    private boolean isAtUrl(Object handler) {
        return mappings.stream()
                .anyMatch(mapping -> mapping instanceof AbstractUrlHandlerMapping urls
                        && urls.getHandlerMap().containsValue(handler));
    }

    private static Endpoint byMethod(ServerWebExchange exchange, PathPattern pattern) {
        return Endpoint.of(
                List.of(Endpoint.methodOf(exchange.getRequest().getMethod().name())), pattern);
    }

    /** The most specific endpoint by path alone, preferably one for the request's method. */
    public Endpoint closestTo(ServerWebExchange exchange) {
        return known.closestTo(
                exchange.getRequest().getPath().pathWithinApplication(),
                exchange.getRequest().getMethod().name());
    }

    /** Lets the handler of a request that is refused write its CORS headers. */
    public Mono<Void> writeCorsHeaders(ServerWebExchange exchange) {
        ServerWebExchange view = new AttributeKeepingExchange(exchange);
        return Flux.fromIterable(mappings)
                .concatMap(mapping -> mapping.getHandler(view))
                .next()
                .then();
    }
}
