package dev.ratelimit.spring.servlet.gateway;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.context.scope.refresh.RefreshScopeRefreshedEvent;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.config.RouteProperties;
import org.springframework.context.ApplicationListener;
import org.springframework.util.StringUtils;

/**
 * Checks the policies that the configuration's routes name, at the start and when the configuration has changed, rather than
 * at the first request; and lets go of those that routes have named before.
 */
public final class GatewayRoutes
        implements SmartInitializingSingleton, ApplicationListener<RefreshScopeRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(GatewayRoutes.class);

    private final NamedLimits limits;
    private final Supplier<@Nullable GatewayMvcProperties> properties;

    /**
     * Checks routes.
     *
     * @param properties of the gateway; {@code null} if it is off
     */
    public GatewayRoutes(NamedLimits limits, Supplier<@Nullable GatewayMvcProperties> properties) {
        this.limits = limits;
        this.properties = properties;
    }

    /**
     * Checks the routes.
     *
     * @throws RateLimitConfigurationException at the first that names a policy which does not exist
     */
    @Override
    public void afterSingletonsInstantiated() {
        replace(mistake -> {
            throw mistake;
        });
    }

    /** The gateway has the routes as they are written now; those that name a policy which does not exist answer with 500. */
    @Override
    public void onApplicationEvent(RefreshScopeRefreshedEvent event) {
        replace(mistake -> log.error("{}. Until it is corrected, the route answers with 500", mistake.getMessage()));
    }

    private void replace(Consumer<RateLimitConfigurationException> reject) {
        GatewayMvcProperties written = properties.get();
        if (written == null) {
            return;
        }
        Map<String, RouteProperties> routes = new LinkedHashMap<>();
        written.getRoutes().forEach(route -> routes.put(String.valueOf(route.getId()), route));
        routes.putAll(written.getRoutesMap());

        Map<String, Set<String>> named = new HashMap<>();
        routes.forEach((id, route) -> {
            for (List<String> policies : policiesOf(route)) {
                try {
                    limits.of(id, policies);
                    named.computeIfAbsent(id, any -> new TreeSet<>()).addAll(policies);
                } catch (RateLimitConfigurationException e) {
                    reject.accept(e);
                }
            }
        });
        limits.replaceConfigured(named);
    }

    /** What its filters of ours name. */
    private static List<List<String>> policiesOf(RouteProperties route) {
        return route.getFilters().stream()
                .filter(filter -> filter.getName() != null && isOwn(filter.getName(), filter.getArgs()))
                .map(filter -> RateLimitFilterFunctions.namesIn(
                        new ArrayList<>(filter.getArgs().values())))
                .toList();
    }

    /** The gateway's filter for Bucket4j has the same name and other arguments. */
    private static boolean isOwn(String name, Map<String, String> arguments) {
        return StringUtils.uncapitalize(name).equals("rateLimit")
                && arguments.keySet().stream().noneMatch(List.of("capacity", "period", "keyResolver")::contains);
    }
}
