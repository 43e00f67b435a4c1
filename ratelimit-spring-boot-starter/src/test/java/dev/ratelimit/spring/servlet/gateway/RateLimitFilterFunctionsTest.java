package dev.ratelimit.spring.servlet.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.rules.decision.RequestRules;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.cloud.gateway.server.mvc.handler.GatewayRouterFunctions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/** Routes of Spring MVC's gateway name the policies that limit them. Each test has its own routes and policies. */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.servlet.gateway.RoutedApp#isPossible")
@ExtendWith(OutputCaptureExtension.class)
class RateLimitFilterFunctionsTest {

    @Configuration(proxyBeanMethods = false)
    static class Coded {

        @Bean
        RouterFunction<ServerResponse> coded() {
            return GatewayRouterFunctions.route("coded")
                    .GET("/coded", request -> ServerResponse.ok().build())
                    .filter(RateLimitFilterFunctions.rateLimit("order"))
                    .build();
        }

        /** A filter before all others that forwards requests by itself, so that no other filter sees them. */
        @Bean
        FilterRegistrationBean<Filter> shortcut() {
            FilterRegistrationBean<Filter> shortcut = new FilterRegistrationBean<>((request, response, chain) -> {
                HttpServletRequest asked = (HttpServletRequest) request;
                if (asked.getHeader("X-Short") != null) {
                    asked.getRequestDispatcher(asked.getRequestURI()).forward(request, response);
                } else {
                    chain.doFilter(request, response);
                }
            });
            shortcut.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return shortcut;
        }

        /** As a circuit breaker does, whose time limit needs another thread. */
        @Bean
        RouterFunction<ServerResponse> elsewhere() {
            return GatewayRouterFunctions.route("elsewhere")
                    .GET("/elsewhere", request -> ServerResponse.ok().build())
                    .filter((request, next) -> CompletableFuture.supplyAsync(() -> {
                                try {
                                    return next.handle(request);
                                } catch (Exception e) {
                                    throw new CompletionException(e);
                                }
                            })
                            .join())
                    .filter(RateLimitFilterFunctions.rateLimit("elsewhere"))
                    .build();
        }
    }

    private static RoutedApp app;

    @BeforeAll
    static void start() {
        app = RoutedApp.start("""
                spring.cloud.gateway.server.webmvc:
                  routes:
                    - {id: plain, uri: $SERVICE, predicates: [Path=/plain/**]}
                    - {id: two, uri: $SERVICE, predicates: [Path=/two], filters: ["RateLimit=minute, day"]}
                    - {id: east, uri: $SERVICE, predicates: [Path=/east/**], filters: ["RateLimit=each,total"]}
                    - {id: west, uri: $SERVICE, predicates: [Path=/west/**], filters: ["RateLimit=each,total"]}
                    - {id: retried, uri: $SERVICE, predicates: [Path=/retried/**], filters: [Retry=3, RateLimit=once]}
                    - {id: behind, uri: $SERVICE, predicates: [Path=/behind], filters: [RateLimit=narrow]}
                    - {id: free, uri: $SERVICE, predicates: [Path=/free/**], filters: [RateLimit=failures]}
                    - {id: held, uri: $SERVICE, predicates: [Path=/held/**], filters: [RateLimit=held]}
                    - {id: form, uri: $SERVICE, predicates: [Path=/form], filters: [RateLimit=form]}
                  routes-map:
                    mapped:
                      uri: $SERVICE
                      predicates: [Path=/mapped]
                      filters:
                        - name: RateLimit
                          args: {policies: "listed, also-listed"}
                ratelimit.policies:
                  paths: {limit: 1/minute, key: ip, match.paths: /plain/**}
                  pattern: {limit: 9/minute, key: endpoint, match.paths: /plain/**}
                  minute: {limit: 2/minute, key: ip, match.annotated: true}
                  day: {limit: 3/day, key: ip, match.annotated: true}
                  each: {limit: 2/minute, key: route, match.annotated: true}
                  total: {limit: 3/minute, match.annotated: true}
                  once: {limit: 2/minute, key: ip, match.annotated: true}
                  wide: {limit: 5/minute, key: ip, match.paths: /behind}
                  narrow: {limit: 1/minute, key: ip, match.annotated: true}
                  failures: {limit: 1/minute, key: ip, count: 5xx, match.annotated: true}
                  held: {concurrency: 1, key: ip, match.annotated: true}
                  form: {limit: 2/minute, key: "#request.getParameter('user')", missing-key: reject, match.annotated: true}
                  elsewhere: {limit: 1/minute, key: ip, match.annotated: true}
                  listed: {limit: 1/minute, key: route, match.annotated: true}
                  also-listed: {limit: 1/minute, key: route, match.annotated: true}
                """, Coded.class);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @Test
    void policy_thatMatchesThePath_limitsTheRoute() {
        RawResponse first = app.get("/plain/a");
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("RateLimit")).isEqualTo("\"paths\";r=0;t=60");
        assertThat(app.retryAfter("/plain/b")).isEqualTo("60");
        assertThat(app.remaining("pattern", "ANY /plain/**")).isEqualTo(8);
    }

    private static int postForm(String query) {
        return app.app()
                .client()
                .sendBody(
                        "POST /form" + query + " HTTP/1.1",
                        "user=alice",
                        "Content-Type: application/x-www-form-urlencoded")
                .status();
    }

    /** The gateway shows its filters the query only. */
    @Test
    void route_limitsByTheFieldsOfAForm() {
        assertThat(postForm("?user=another")).isEqualTo(400);
        assertThat(postForm("")).isEqualTo(200);
        assertThat(postForm("")).isEqualTo(200);
        assertThat(postForm("")).isEqualTo(429);
        assertThat(postForm("?user=another")).isEqualTo(400);
    }

    @Test
    void route_withTwoPolicies_isChargedByAllOrNone() {
        int before = app.reached();
        RawResponse first = app.get("/two");
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("RateLimit")).contains("\"minute\";r=1", "\"day\";r=2");
        assertThat(app.status("/two")).isEqualTo(200);

        RawResponse refused = app.get("/two");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isEqualTo("30");
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.body()).contains("\"violated-policies\":[\"minute\"]");
        assertThat(app.remaining("day", "127.0.0.1")).isEqualTo(1);
        assertThat(app.reached() - before).isEqualTo(2);
    }

    @Test
    void policy_byRoute_hasABudgetOfEachRoute() {
        assertThat(app.status("/east")).isEqualTo(200);
        assertThat(app.status("/east")).isEqualTo(200);
        assertThat(app.get("/east").body()).contains("\"violated-policies\":[\"each\"]");
        assertThat(app.status("/west")).isEqualTo(200);
        assertThat(app.get("/west").body()).contains("\"violated-policies\":[\"total\"]");
    }

    @Test
    void route_whoseLimitsDoNotKnowTheRequest_isNotFree() {
        assertThat(app.status("/plain/short", "X-Short: 1")).isNotEqualTo(500);

        assertThat(app.status("/behind", "X-Short: 1")).isEqualTo(500);
        assertThat(app.app().send("OPTIONS /behind HTTP/1.1", "X-Short: 1").status())
                .isEqualTo(500);
    }

    @Test
    void request_thatTheGatewayRetries_isChargedOnce() {
        int before = app.reached();

        app.get("/retried/status/503");

        assertThat(app.reached() - before).isGreaterThan(1);
        assertThat(app.remaining("once", "127.0.0.1")).isEqualTo(1);
    }

    @Test
    void refusal_ofARoute_givesBackWhatTheFilterHasCharged() {
        assertThat(app.status("/behind")).isEqualTo(200);
        for (int i = 0; i < 5; i++) {
            assertThat(app.retryAfter("/behind")).isEqualTo("60");
        }

        assertThat(app.remaining("wide", "127.0.0.1")).isEqualTo(4);
        app.app().awaitCounted("wide", "admitted", 1);
        app.app().awaitCounted("narrow", "refused", 5);
    }

    @Test
    void charge_ofAStatusThatDoesNotCount_comesBack() {
        assertThat(app.status("/free/status/200")).isEqualTo(200);
        assertThat(app.status("/free/status/404")).isEqualTo(404);
        assertThat(app.status("/free/status/500")).isEqualTo(500);
        assertThat(app.status("/free/status/200")).isEqualTo(429);
    }

    @Test
    void request_thatAFilterHandsToAnotherThread_isLimited() {
        RawResponse admitted = app.get("/elsewhere");
        assertThat(admitted.status()).isEqualTo(200);
        assertThat(admitted.header("RateLimit")).isEqualTo("\"elsewhere\";r=0;t=60");

        RawResponse refused = app.get("/elsewhere");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isEqualTo("60");
        assertThat(refused.body()).contains("\"violated-policies\":[\"elsewhere\"]");
    }

    @Test
    void heldPermit_ofACompleteResponse_comesBack() {
        assertThat(app.status("/held")).isEqualTo(200);
        assertThat(app.status("/held")).isEqualTo(200);
    }

    @Test
    void policies_asArgument_areText() {
        assertThat(app.status("/mapped")).isEqualTo(200);
        assertThat(app.get("/mapped").body()).contains("\"listed\"", "\"also-listed\"");
    }

    @Test
    void route_inJava_withAnUnknownPolicy_answersWith500() {
        assertThat(app.status("/coded")).isEqualTo(500);
    }

    @Test
    void example_ofThePage_limits() throws IOException {
        String page = Files.readString(Path.of("../docs/gateway.md")).split("## On Spring MVC", 2)[1];
        String yaml = page.split("```yaml\n", 2)[1].split("```", 2)[0];
        try (RoutedApp written = RoutedApp.start(yaml.replace("http://orders:8080", "$SERVICE"))) {
            for (int i = 0; i < 60; i++) {
                assertThat(written.status("/orders/1")).isEqualTo(200);
            }
            assertThat(written.status("/orders/1")).isEqualTo(429);
        }
    }

    @Test
    void start_withAnUnknownPolicy_fails() {
        assertThatThrownBy(() -> RoutedApp.start("""
                spring.cloud.gateway.server.webmvc.routes:
                  - {id: one, uri: $SERVICE, predicates: [Path=/one], filters: [RateLimit=order]}
                ratelimit.policies.orders.limit: 1/minute
                """))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith(
                        "route one: names policy 'order' (did you mean 'orders'?), which does not exist;");
    }

    @Test
    void start_withAPolicyByRoute_warnsThatTheRouteIsNotKnown(CapturedOutput output) {
        try (RoutedApp off = RoutedApp.start("""
                spring.cloud.gateway.server.webmvc.routes:
                  - {id: one, uri: $SERVICE, predicates: [Path=/one]}
                ratelimit.policies.each: {limit: 1/minute, key: route}
                """)) {
            assertThat(off.status("/one")).isEqualTo(200);
        }
        assertThat(output)
                .contains(
                        "Rate limit 'each' is by route, but it applies before the route is known; callers are identified"
                                + " by their address instead. Name it in the filter RateLimit of routes");
    }

    @Test
    void routes_whileLimitsAreOff_areNotLimited() {
        try (RoutedApp off = RoutedApp.start("""
                ratelimit.enabled: false
                spring.cloud.gateway.server.webmvc.routes:
                  - {id: one, uri: $SERVICE, predicates: [Path=/one], filters: [RateLimit=orders]}
                """)) {
            assertThat(off.status("/one")).isEqualTo(200);
        }
    }

    @Test
    void routes_thatChange_letGoOfTheirPolicies(CapturedOutput output) {
        try (RoutedApp changed = RoutedApp.start("""
                spring.cloud.gateway.server.webmvc.routes:
                  - {id: one, uri: $SERVICE, predicates: [Path=/one], filters: ["RateLimit=first,second"]}
                  - {id: two, uri: $SERVICE, predicates: [Path=/two], filters: [RateLimit=first]}
                ratelimit.policies:
                  first: {limit: 1/minute, key: route, match.annotated: true}
                  second: {limit: 1/minute, key: route, match.annotated: true}
                  third: {limit: 1/minute, key: route, match.annotated: true}
                """)) {
            assertThat(changed.status("/one")).isEqualTo(200);
            RequestRules rules = changed.app().bean(RequestRules.class);

            changed.refresh("""
                    spring.cloud.gateway.server.webmvc.routes:
                      - {id: one, uri: $SERVICE, predicates: [Path=/one], filters: [RateLimit=third]}
                      - {id: two, uri: $SERVICE, predicates: [Path=/two], filters: [RateLimit=nay]}
                    """);

            assertThat(changed.status("/one")).isEqualTo(200);
            assertThat(changed.get("/one").body()).contains("\"violated-policies\":[\"third\"]");
            assertThat(output)
                    .contains("route two: names policy 'nay', which does not exist")
                    .contains("Until it is corrected, the route answers with 500");
            assertThat(changed.status("/two")).isEqualTo(500);

            assertThatThrownBy(() -> rules.read(Map.of(), Map.of())).hasMessageStartingWith("route one: names policy");
            changed.refresh("""
                    spring.cloud.gateway.server.webmvc.routes:
                      - {id: one, uri: $SERVICE, predicates: [Path=/one]}
                      - {id: two, uri: $SERVICE, predicates: [Path=/two]}
                    """);
            assertThat(changed.status("/two")).isEqualTo(200);
            assertThat(rules.read(Map.of(), Map.of()).rules().byPolicy()).isEmpty();
        }
    }
}
