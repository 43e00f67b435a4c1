package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.reactive.RouteLimits;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;

/** Functional routes name the policies that limit them. */
@Tag("servers")
class RouteLimitsTest {

    @Configuration(proxyBeanMethods = false)
    static class Routes {

        @Bean
        RouterFunction<ServerResponse> reports(RouteLimits limits) {
            return route().GET("/reports/{id}", request -> ServerResponse.ok().bodyValue("report"))
                    .filter(limits.of("reports"))
                    .build()
                    .and(route().GET("/open", request -> ServerResponse.ok().bodyValue("open"))
                            .build())
                    .and(route().OPTIONS(
                                    "/shown", request -> ServerResponse.ok().build())
                            .filter(limits.of("reports"))
                            .build());
        }
    }

    /** A filter before all others that hands requests on by itself, so that no other filter sees them. */
    @Configuration(proxyBeanMethods = false)
    static class Shortcut {

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter shortcut(ObjectProvider<DispatcherHandler> handlers) {
            return (exchange, chain) -> exchange.getRequest().getHeaders().getFirst("X-Short") != null
                    ? handlers.getObject().handle(exchange)
                    : chain.filter(exchange);
        }
    }

    private static RunningApp start(String... properties) {
        return RunningApp.start(List.of(Routes.class), properties);
    }

    @Test
    void route_thatNamesAPolicy_isLimitedByIt() {
        try (RunningApp app = start(
                "ratelimit.policies.reports.limit=1/minute",
                "ratelimit.policies.reports.key=ip",
                "ratelimit.policies.reports.match.annotated=true",
                "ratelimit.policies.all.limit=3/minute",
                "ratelimit.policies.all.key=ip")) {
            assertThat(app.get("/reports/1").status()).isEqualTo(200);
            assertThat(app.get("/reports/1").status()).isEqualTo(429);
            assertThat(app.get("/reports/2").header("Retry-After")).isNotNull();
            // what the filter has charged for refused requests came back
            assertThat(app.get("/open").status()).isEqualTo(200);
            assertThat(app.get("/open").status()).isEqualTo(200);
            assertThat(app.get("/open").status()).isEqualTo(429);
            app.awaitCounted("reports", "admitted", 1);
            app.awaitCounted("reports", "refused", 2);
            app.awaitCounted("all", "admitted", 3);
        }
    }

    @Test
    void route_thatNamesAnUnknownPolicy_stopsTheStart() {
        assertThatThrownBy(() -> start("ratelimit.policies.report.limit=1/minute"))
                .rootCause()
                .hasMessageContaining("reports");
        assertThatThrownBy(RouteLimitsTest::start).rootCause().hasMessageContaining("reports");
    }

    @Test
    void route_whileLimitsAreOff_isNotLimited() {
        try (RunningApp app = start("ratelimit.enabled=false")) {
            assertThat(app.get("/reports/1").status()).isEqualTo(200);
        }
    }

    @Test
    void route_whoseLimitsDoNotKnowTheRequest_isNotFree() {
        try (RunningApp app = RunningApp.start(
                List.of(Routes.class, Shortcut.class),
                "ratelimit.policies.reports.limit=1/minute",
                "ratelimit.policies.reports.key=ip",
                "ratelimit.policies.reports.match.annotated=true")) {
            assertThat(app.get("/open", "X-Short: 1").status()).isEqualTo(200);

            assertThat(app.get("/reports/1", "X-Short: 1").status()).isEqualTo(500);
        }
    }

    @Test
    void preflight_ofARoute_isFree() {
        try (RunningApp app = start(
                "ratelimit.policies.reports.limit=1/minute",
                "ratelimit.policies.reports.key=ip",
                "ratelimit.policies.reports.match.annotated=true")) {
            for (int i = 0; i < 3; i++) {
                // the route has no CORS configuration: Spring answers 200, or 403 before version 7
                assertThat(app.send(
                                        "OPTIONS /shown HTTP/1.1",
                                        "Origin: https://a.example",
                                        "Access-Control-Request-Method: GET")
                                .status())
                        .isNotEqualTo(429);
            }
            assertThat(app.get("/reports/1").status()).isEqualTo(200);
        }
    }
}
