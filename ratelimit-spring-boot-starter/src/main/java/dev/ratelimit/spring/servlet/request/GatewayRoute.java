package dev.ratelimit.spring.servlet.request;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.server.mvc.common.MvcUtils;
import org.springframework.util.ClassUtils;

/** The route of Spring Cloud Gateway that serves a request. */
final class GatewayRoute {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.cloud.gateway.server.mvc.common.MvcUtils", GatewayRoute.class.getClassLoader());

    private GatewayRoute() {}

    /** Its id; {@code null} if there is no route, or if its filters have not been called yet. */
    static @Nullable String of(HttpServletRequest request) {
        return PRESENT ? Present.of(request) : null;
    }

    /** Only loaded if the gateway is present. */
    private static final class Present {

        static @Nullable String of(HttpServletRequest request) {
            return request.getAttribute(MvcUtils.GATEWAY_ROUTE_ID_ATTR) instanceof String id ? id : null;
        }
    }
}
