package dev.ratelimit.spring.reactive.gateway;

import static org.springframework.cloud.gateway.support.GatewayToStringStyler.filterToStringCreator;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.reactive.filter.RouteLimit;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.HasRouteId;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The filter {@code RateLimit} of Spring Cloud Gateway: a route that says {@code RateLimit=per-minute,per-day} is limited by
 * these policies under {@code ratelimit.policies}, whatever its path and method. A request is charged to all of them or to
 * none, and to a policy once, even if several filters of the route name it. Write {@code match.annotated: true} for a
 * policy that limits nothing else. Thread-safe.
 */
public final class RateLimitGatewayFilterFactory
        extends AbstractGatewayFilterFactory<RateLimitGatewayFilterFactory.Config> {

    /** What a route writes. Not thread-safe. */
    public static final class Config implements HasRouteId {

        private @Nullable String routeId;
        private List<String> policies = List.of();

        /** {@return the names of the policies} */
        public List<String> getPolicies() {
            return policies;
        }

        /**
         * Names the policies.
         *
         * @param policies one name each, or several separated by commas
         */
        public void setPolicies(List<String> policies) {
            this.policies = RateLimitGatewayFilterFactory.namesIn(policies);
        }

        @Override
        public @Nullable String getRouteId() {
            return routeId;
        }

        @Override
        public void setRouteId(String routeId) {
            this.routeId = routeId;
        }
    }

    private final NamedLimits limits;

    /**
     * Creates the filters of routes.
     *
     * @param limits finds the policies
     */
    public RateLimitGatewayFilterFactory(NamedLimits limits) {
        super(Config.class);
        this.limits = limits;
    }

    /** The names in what is written. */
    static List<String> namesIn(List<String> written) {
        return written.stream()
                .flatMap(text -> Stream.of(text.split(",", -1)))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .distinct()
                .toList();
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("policies");
    }

    @Override
    public ShortcutType shortcutType() {
        return ShortcutType.GATHER_LIST;
    }

    /**
     * Creates the filter of a route.
     *
     * @throws RateLimitConfigurationException if there is no such policy
     */
    @Override
    public GatewayFilter apply(Config config) {
        String route = config.getRouteId() == null ? "of the gateway" : config.getRouteId();
        return new Filter(this, config.getPolicies(), limits.ofRoute(route, config.getPolicies()));
    }

    /** Limits exchanges of a route. */
    static final class Filter implements GatewayFilter {

        private final RateLimitGatewayFilterFactory factory;
        private final List<String> policies;

        /** {@code null} while limits are off. */
        private final @Nullable RouteLimit limit;

        Filter(RateLimitGatewayFilterFactory factory, List<String> policies, @Nullable RouteLimit limit) {
            this.factory = factory;
            this.policies = policies;
            this.limit = limit;
        }

        List<String> policies() {
            return policies;
        }

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
            // the path may be rewritten by now, and lead to an endpoint of this application
            return limit == null
                    ? chain.filter(exchange)
                    : limit.charge(ReactiveWebRequest.of(exchange).leadingTo(Endpoint.UNMAPPED), chain::filter);
        }

        /** For the actuator. */
        @Override
        public String toString() {
            return filterToStringCreator(factory).append("policies", policies).toString();
        }
    }
}
