package dev.ratelimit.spring.reactive.autoconfigure;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.boot.spi.WebStack;
import dev.ratelimit.spring.rules.path.Routes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.web.method.HandlerMethod;

/** An application with WebFlux. */
final class ReactiveStack implements WebStack {

    private static final String BASE_PATH = "spring.webflux.base-path";

    private final ApplicationContext context;

    ReactiveStack(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public EndpointResolver findEndpoints(BiPredicate<Endpoint, HandlerMethod> annotations) {
        return new EndpointResolver() {
            @Override
            public Endpoint resolve(WebRequest request) {
                return Endpoint.UNMAPPED;
            }

            @Override
            public boolean mayLeadToAnnotated(WebRequest request) {
                return false;
            }
        };
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
        return true;
    }

    @Override
    public void warnOfSurroundings() {}

    @Override
    public void checkWaiting(String policy, boolean beforeSecurity) {
        // a request that waits keeps its place in the chain
    }

    @Override
    public @Nullable Routes routes() {
        return null;
    }
}
