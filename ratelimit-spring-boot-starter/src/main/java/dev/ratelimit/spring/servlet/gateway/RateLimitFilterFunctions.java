package dev.ratelimit.spring.servlet.gateway;

import dev.ratelimit.spring.servlet.filter.RouteLimit;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.cloud.gateway.server.mvc.common.MvcUtils;
import org.springframework.cloud.gateway.server.mvc.common.Shortcut;
import org.springframework.cloud.gateway.server.mvc.filter.SimpleFilterSupplier;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** The filter {@code RateLimit} of routes of Spring Cloud Gateway, which finds its method by name. */
public final class RateLimitFilterFunctions {

    private RateLimitFilterFunctions() {}

    /**
     * Limits a route by these policies under {@code ratelimit.policies}, whatever its path and method.
     *
     * @param policies one name each, or several separated by commas
     */
    @Shortcut(type = Shortcut.Type.LIST)
    public static HandlerFilterFunction<ServerResponse, ServerResponse> rateLimit(String... policies) {
        List<String> named = namesIn(List.of(policies));
        return (request, next) -> {
            RouteLimit limit = MvcUtils.getApplicationContext(request)
                    .getBean(NamedLimits.class)
                    .of(routeOf(request), named);
            return limit == null ? next.handle(request) : limit.handle(request, next);
        };
    }

    private static String routeOf(ServerRequest request) {
        return String.valueOf(request.servletRequest().getAttribute(MvcUtils.GATEWAY_ROUTE_ID_ATTR));
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

    /** Tells the gateway where to find the filter. */
    public static final class FilterSupplier extends SimpleFilterSupplier {

        /** Tells it. */
        public FilterSupplier() {
            super(RateLimitFilterFunctions.class);
        }
    }
}
