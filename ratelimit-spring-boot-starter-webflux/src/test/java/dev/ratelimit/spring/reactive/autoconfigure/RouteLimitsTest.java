package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.reactive.RouteLimits;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;

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
                            .build());
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
}
