package dev.ratelimit.spring.reactive.endpoint;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.boot.endpoint.KnownEndpoints;
import dev.ratelimit.spring.boot.endpoint.ManagementRoutes;
import dev.ratelimit.spring.boot.endpoint.MappedRoutes;
import dev.ratelimit.spring.boot.endpoint.RegistrationWatch;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * The endpoints of the application, and which of them a request leads to. Handler mappings have side effects, so they are
 * not asked: routes are found in an index of our own, and where that cannot tell, WebFlux itself finds the handler before
 * the request is charged. Thread-safe.
 */
public final class Endpoints implements EndpointResolver {

    private static final WebFluxConditions CONDITIONS = new WebFluxConditions();

    /** A mapping that never finds anything. */
    private static final String EMPTY =
            "org.springframework.web.reactive.config.WebFluxConfigurationSupport$EmptyHandlerMapping";

    private final List<HandlerMapping> mappings;
    private final RegistrationWatch watch;
    private final Map<HandlerMapping, MappedRoutes<RequestMappingInfo, ServerWebExchange>> controllers =
            new HashMap<>();
    private final Map<HandlerMapping, FunctionalRoutes> functions = new HashMap<>();
    private final KnownEndpoints known;
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
        this.known = new KnownEndpoints(saySomething);
        this.mappings.forEach(this::read);
        this.unindexed = this.mappings.stream()
                .anyMatch(mapping -> !mapping.getClass().getName().startsWith("org.springframework."));
        this.watch = new RegistrationWatch(
                "WebFlux",
                controllers.keySet().stream()
                        .map(mapping -> RegistrationWatch.Mapping.of(
                                mapping, ((RequestMappingInfoHandlerMapping) mapping)::getHandlerMethods))
                        .toList(),
                ticker);
    }

    private static boolean isUnused(HandlerMapping mapping) {
        return mapping.getClass().getName().equals(EMPTY)
                || (mapping instanceof RouterFunctionMapping functional && functional.getRouterFunction() == null);
    }

    private void read(HandlerMapping mapping) {
        if (mapping instanceof RequestMappingInfoHandlerMapping own) {
            boolean operators = ManagementRoutes.areIn(mapping);
            own.getHandlerMethods()
                    .forEach((info, handler) -> known.add(
                            CONDITIONS.methods(info),
                            KnownEndpoints.byText(CONDITIONS.patterns(info)),
                            handler,
                            operators));
            if (WebFluxConditions.canStandFor(mapping)) {
                controllers.put(
                        mapping,
                        new MappedRoutes<>(
                                own.getHandlerMethods(),
                                CONDITIONS,
                                (handler, pattern) -> known.of(handler, pattern.getPatternString())));
            }
        } else if (mapping.getClass() == RouterFunctionMapping.class
                && mapping instanceof RouterFunctionMapping functional
                && functional.getRouterFunction() != null) {
            functions.put(
                    mapping, new FunctionalRoutes(functional.getRouterFunction(), functional.getPathPatternParser()));
        }
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
        MappedRoutes<RequestMappingInfo, ServerWebExchange> mapped = controllers.get(mapping);
        if (mapped != null) {
            return find(mapped, exchange, path);
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
            MappedRoutes<RequestMappingInfo, ServerWebExchange> mapped,
            ServerWebExchange exchange,
            PathContainer path) {
        List<MappedRoutes.Route<RequestMappingInfo>> candidates = mapped.candidates(path);
        if (candidates.isEmpty()) {
            return null;
        }
        MappedRoutes.Route<RequestMappingInfo> plain =
                MappedRoutes.plain(candidates, exchange.getRequest().getMethod().name(), CONDITIONS);
        if (plain != null && plain.plain() != null) {
            return new Found(plain.plain(), true);
        }
        MappedRoutes.Match<RequestMappingInfo> best =
                mapped.best(candidates, new AttributeKeepingExchange(exchange), path.value());
        Endpoint endpoint =
                best == null ? null : known.of(best.handler(), best.pattern().getPatternString());
        // without a match, the mapping answers: 405, 415, 406, 400, or OPTIONS
        return new Found(endpoint == null ? closestTo(exchange) : endpoint, true);
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
        PathPattern pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        if (handler instanceof HandlerMethod) {
            // the mapping's own; the other one has the bean in place of its name
            HandlerMethod mapped = exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
            if (pattern == null || mapped == null) {
                // a handler of Spring answers OPTIONS for the endpoint
                return Mono.just(closestTo(exchange));
            }
            Endpoint endpoint = known.of(mapped, pattern.getPatternString());
            return Mono.just(endpoint == null ? byMethod(exchange, pattern) : endpoint);
        }
        if (handler instanceof ResourceWebHandler) {
            return findFile(exchange).defaultIfEmpty(Endpoint.UNMAPPED);
        }
        return Mono.just(pattern == null || isAtUrl(handler) ? Endpoint.UNMAPPED : ofFunction(pattern));
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

    private Endpoint ofFunction(PathPattern pattern) {
        return functions.values().stream()
                .map(routes -> routes.of(pattern.getPatternString()))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(() -> Endpoint.of(List.of(), pattern));
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
