package dev.ratelimit.spring.reactive.gateway;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.reactive.filter.RouteLimit;
import dev.ratelimit.spring.reactive.request.CurrentExchange;
import dev.ratelimit.spring.reactive.request.ReactiveWebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * A limiter for {@code RequestRateLimiter}, the own filter of Spring Cloud Gateway: {@code rate-limiter:
 * "#{@policyRateLimiter}"} and {@code policy-rate-limiter.policy: NAME}. The caller is whom the filter's {@code
 * key-resolver} finds; it takes the place of the user in the policy's key. Never blocks. Thread-safe.
 */
public final class PolicyRateLimiter extends AbstractRateLimiter<PolicyRateLimiter.Config> {

    /** What the arguments of the filter begin with. */
    public static final String PREFIX = "policy-rate-limiter";

    /** What a route writes. Not thread-safe. */
    public static final class Config {

        private @Nullable String policy;

        /** {@return the name of the policy under {@code ratelimit.policies}} */
        public @Nullable String getPolicy() {
            return policy;
        }

        /**
         * Names the policy.
         *
         * @param policy under {@code ratelimit.policies}
         */
        public void setPolicy(String policy) {
            this.policy = policy;
        }
    }

    /**
     * The limit of a route.
     *
     * @param limit {@code null} while limits are off
     */
    private record Limited(String policy, @Nullable RouteLimit limit) {}

    private static final Response ADMITTED = new Response(true, Map.of());

    private final NamedLimits limits;

    /** Of routes in force, by the id of the route. */
    private final Map<String, Limited> byRoute = new ConcurrentHashMap<>();

    /** Of routes that are being created, and that the gateway may yet reject. */
    private final Map<String, Limited> next = new ConcurrentHashMap<>();

    /** The routes with arguments; others are configured in Java. */
    private final Set<String> written = ConcurrentHashMap.newKeySet();

    /**
     * Creates the limiter.
     *
     * @param limits finds the policies
     * @param configuration binds the arguments of routes
     */
    public PolicyRateLimiter(NamedLimits limits, @Nullable ConfigurationService configuration) {
        super(Config.class, PREFIX, configuration);
        this.limits = limits;
    }

    /**
     * Reads the arguments of a route, which is in force when the gateway has created all routes.
     *
     * @throws RateLimitConfigurationException if there is no such policy, or its key has no user
     */
    @Override
    public void onApplicationEvent(FilterArgsEvent event) {
        super.onApplicationEvent(event);
        if (event.getArgs().keySet().stream().anyMatch(argument -> argument.startsWith(PREFIX + "."))) {
            String route = event.getRouteId();
            next.put(route, create(route, configuredPolicy(route)));
            written.add(route);
        }
    }

    /**
     * The gateway has created its routes: what they have written is in force, and what routes wrote that are gone, or have
     * other filters now, is not.
     *
     * @param unchanged the routes that the gateway has not created again
     */
    void enforce(Set<String> unchanged) {
        for (String route : Set.copyOf(written)) {
            Limited created = next.remove(route);
            if (created != null) {
                byRoute.put(route, created);
            } else if (!unchanged.contains(route)) {
                byRoute.remove(route);
                getConfig().remove(route);
                written.remove(route);
            }
        }
        next.clear();
    }

    /** The gateway has rejected the routes that it was to create, and keeps those that it has. */
    void reject() {
        next.clear();
    }

    /** The policy that a route in force names; {@code null} if it names none. */
    @Nullable
    String policyOf(String route) {
        Limited known = byRoute.get(route);
        return known == null ? configuredPolicy(route) : known.policy();
    }

    private @Nullable String configuredPolicy(String route) {
        Config config = getConfig().get(route);
        return config == null ? null : config.getPolicy();
    }

    private @Nullable RouteLimit limitOf(String route) {
        Limited known = byRoute.get(route);
        if (known == null) {
            known = next.get(route);
        }
        if (known == null) {
            known = create(route, configuredPolicy(route));
            byRoute.put(route, known);
        }
        return known.limit();
    }

    private Limited create(String route, @Nullable String policy) {
        if (policy == null) {
            throw new RateLimitConfigurationException(
                    "route " + route,
                    null,
                    "its RequestRateLimiter names no policy; write " + PREFIX + ".policy beside its rate-limiter");
        }
        return new Limited(policy, limits.ofCallers(route, policy));
    }

    /**
     * Charges the current request to the policy that the route names.
     *
     * @param routeId the route
     * @param id the caller
     * @return whether it is admitted, and the headers of the response; an error if the route names no policy, or if
     *     nothing tells which request this is
     */
    @Override
    public Mono<Response> isAllowed(String routeId, String id) {
        return Mono.deferContextual(context -> {
            RouteLimit limit = limitOf(routeId);
            if (limit == null) {
                return Mono.just(ADMITTED);
            }
            ServerWebExchange exchange = CurrentExchange.of(context);
            if (exchange == null) {
                return Mono.error(new IllegalStateException("nothing tells whose request this is; call isAllowed in the"
                        + " chain of an exchange, as the filter RequestRateLimiter does"));
            }
            return limit.charge(ReactiveWebRequest.of(exchange).leadingTo(Endpoint.UNMAPPED), id)
                    .map(answer -> new Response(answer.admitted(), answer.headers()));
        });
    }
}
