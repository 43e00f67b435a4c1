package dev.ratelimit.spring.reactive.request;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;

/** The route of Spring Cloud Gateway that serves an exchange. */
final class GatewayRoute {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.cloud.gateway.support.ServerWebExchangeUtils", GatewayRoute.class.getClassLoader());

    private GatewayRoute() {}

    /** Its id; {@code null} if there is no route, or if it has not been found yet. */
    static @Nullable String of(ServerWebExchange exchange) {
        return PRESENT ? Present.of(exchange) : null;
    }

    /** Only loaded if the gateway is present. */
    private static final class Present {

        static @Nullable String of(ServerWebExchange exchange) {
            Route route = exchange.getAttribute(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR);
            return route == null ? null : route.getId();
        }
    }
}
