package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.boot.spi.WebStack;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.reactive.endpoint.Endpoints;
import dev.ratelimit.spring.reactive.endpoint.RouteSurvey;
import dev.ratelimit.spring.reactive.filter.RateLimitFilters;
import dev.ratelimit.spring.reactive.method.ReactiveCallCharger;
import dev.ratelimit.spring.reactive.surroundings.ReactiveWarnings;
import dev.ratelimit.spring.rules.config.AnnotatedRules;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;

/** An application with WebFlux. */
final class ReactiveStack implements WebStack {

    private static final String BASE_PATH = "spring.webflux.base-path";

    private final ApplicationContext context;
    private final RateLimitProperties properties;
    private final Ticker ticker;
    private volatile Endpoints endpoints;

    ReactiveStack(ApplicationContext context, RateLimitProperties properties, Ticker ticker) {
        this.context = context;
        this.properties = properties;
        this.ticker = ticker;
        this.endpoints = new Endpoints(List.of(), (endpoint, handler) -> false, () -> false, ticker);
    }

    /** The endpoints of the application; none before they are known. */
    Endpoints endpoints() {
        return endpoints;
    }

    @Override
    public EndpointResolver findEndpoints(BiPredicate<Endpoint, HandlerMethod> annotations) {
        Endpoints found = new Endpoints(handlerMappings(), annotations, this::haveRoutes, ticker);
        endpoints = found;
        return found;
    }

    private boolean haveRoutes() {
        return context.containsBean(RateLimitGatewayAutoConfiguration.ROUTES)
                || context.getBean(RateLimitFilters.class).haveRoutes();
    }

    private List<HandlerMapping> handlerMappings() {
        List<HandlerMapping> mappings = new ArrayList<>(
                BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
                        .values());
        AnnotationAwareOrderComparator.sort(mappings);
        return mappings;
    }

    @Override
    public boolean hasStages() {
        return context.containsBean(RateLimitWebFilterConfiguration.BEFORE_SECURITY);
    }

    @Override
    public String contextPath() {
        return context.getEnvironment().getProperty(BASE_PATH, "");
    }

    @Override
    public String handlerPath() {
        return "";
    }

    @Override
    public boolean mayAuthenticate() {
        return ReactiveWarnings.mayAuthenticate(context);
    }

    @Override
    public void warnOfSurroundings() {
        new ReactiveWarnings(context, !properties.trustedProxies().isEmpty()).log();
    }

    @Override
    public void checkWaiting(String policy, boolean beforeSecurity) {
        // a request that waits keeps its place in the chain
    }

    /** Calls whose result comes at once do not know their request. */
    @Override
    public void checkCalls(HandlerMethod handler) {
        if (!ReactiveCallCharger.isLater(handler.getMethod())) {
            throw AnnotatedRules.mistake(
                    handler.getBeanType(),
                    handler.getMethod(),
                    "a limit that depends on the arguments of a handler needs one that returns a Mono or a Flux, but it"
                            + " returns " + handler.getMethod().getReturnType().getSimpleName());
        }
    }

    /** A test of a part of the application has no server. */
    @Override
    public @Nullable Routes routes() {
        return Boot.isServer(context) ? RouteSurvey.of(context, handlerMappings(), hasStages()) : null;
    }
}
