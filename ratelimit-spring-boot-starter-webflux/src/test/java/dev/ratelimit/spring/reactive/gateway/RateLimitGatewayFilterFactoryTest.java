package dev.ratelimit.spring.reactive.gateway;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.list;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.boot.spi.RequestExplainer;
import dev.ratelimit.spring.boot.spi.RequestFacts;
import dev.ratelimit.spring.reactive.GatewayLimits;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Sinks;

/** Routes name the policies that limit them. Each test has its own routes and policies. */
@Tag("servers")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
class RateLimitGatewayFilterFactoryTest {

    @RestController
    static class Local {

        @GetMapping("/local")
        String local() {
            return "local";
        }

        @RateLimitExempt
        @GetMapping("/exempt")
        String exempt() {
            return "exempt";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Coded {

        @Bean
        RouteLocator coded(RouteLocatorBuilder routes, GatewayLimits limits) {
            return routes.routes()
                    .route(
                            "coded",
                            route -> route.path("/coded")
                                    .filters(filters -> filters.filter(limits.of("coded")))
                                    .uri("forward:/local"))
                    .route(
                            "impatient",
                            route -> route.path("/impatient")
                                    .filters(filters -> filters.filter((exchange, chain) -> limits.of("patient")
                                            .filter(exchange, chain)
                                            .timeout(PATIENCE_ENDS.asFlux().next())
                                            .onErrorResume(
                                                    TimeoutException.class,
                                                    late -> limits.of("fallback")
                                                            .filter(exchange, chain))))
                                    .uri("forward:/local"))
                    .build();
        }
    }

    /** Ends the patience of all who wait at the moment. */
    private static final Sinks.Many<Boolean> PATIENCE_ENDS =
            Sinks.many().multicast().directBestEffort();

    private static RoutedApp app;

    @BeforeAll
    static void start() {
        app = RoutedApp.start("""
                spring.cloud.gateway.server.webflux:
                  default-filters: RateLimit=every
                  routes:
                    - {id: two, uri: $SERVICE, predicates: [Path=/two], filters: ["RateLimit=minute, day"]}
                    - {id: east, uri: $SERVICE, predicates: [Path=/east/**], filters: ["RateLimit=each,total"]}
                    - {id: west, uri: $SERVICE, predicates: [Path=/west/**], filters: ["RateLimit=each,total"]}
                    - {id: again, uri: $SERVICE, predicates: [Path=/again], filters: [RateLimit=every]}
                    - {id: retried, uri: $SERVICE, predicates: [Path=/retried/**], filters: [Retry=3, RateLimit=once]}
                    - {id: refused, uri: $SERVICE, predicates: [Path=/refused], filters: ["Retry=3,TOO_MANY_REQUESTS", RateLimit=first]}
                    - {id: behind, uri: $SERVICE, predicates: [Path=/behind], filters: [RateLimit=narrow]}
                    - {id: matched, uri: $SERVICE, predicates: [Path=/matched/**]}
                    - {id: free, uri: $SERVICE, predicates: [Path=/free/**], filters: [RateLimit=failures]}
                    - {id: held, uri: $SERVICE, predicates: [Path=/held/**], filters: [RateLimit=held]}
                    - {id: waits, uri: $SERVICE, predicates: [Path=/waits], filters: [RateLimit=waits]}
                    - {id: added, uri: $SERVICE, predicates: [Path=/added], filters: ["AddRequestHeader=X-Caller, ann", RateLimit=callers]}
                    - {id: sends, uri: $SERVICE, predicates: [Path=/sends/**], filters: [RateLimit=shown]}
                    - {id: hides, uri: $SERVICE, predicates: [Path=/hides], filters: [RemoveResponseHeader=RateLimit, RateLimit=shown]}
                    - {id: explained, uri: $SERVICE, predicates: [Path=/explained], filters: [RateLimit=minute]}
                    - {id: shadow, uri: $SERVICE, predicates: [Path=/shadow], filters: [RateLimit=shadow]}
                    - {id: forwards, uri: "forward:/local", predicates: [Path=/forwards], filters: [RateLimit=forwards]}
                    - {id: stripped, uri: $SERVICE, predicates: [Path=/stripped/**], filters: [StripPrefix=1, RateLimit=stripped]}
                    - id: arguments
                      uri: $SERVICE
                      predicates: [Path=/arguments]
                      filters:
                        - name: RateLimit
                          args:
                            policies: [listed, also-listed]
                    - id: text
                      uri: $SERVICE
                      predicates: [Path=/text]
                      filters:
                        - name: RateLimit
                          args: {policies: "listed, also-listed"}
                ratelimit.policies:
                  every: {limit: 90/minute, key: "ip, route", match.annotated: true}
                  minute: {limit: 2/minute, key: ip, match.annotated: true}
                  day: {limit: 3/day, key: ip, match.annotated: true}
                  each: {limit: 2/minute, key: route, match.annotated: true}
                  total: {limit: 3/minute, match.annotated: true}
                  once: {limit: 2/minute, key: ip, match.annotated: true}
                  first: {limit: 1/minute, key: ip, match.annotated: true}
                  wide: {limit: 5/minute, key: ip, match.paths: /behind}
                  narrow: {limit: 1/minute, key: ip, match.annotated: true}
                  by-route: {limit: 1/minute, key: route, match.paths: /matched/**}
                  failures: {limit: 1/minute, key: ip, count: 5xx, match.annotated: true}
                  held: {concurrency: 1, key: ip, match.annotated: true}
                  waits: {limit: 1/second, key: ip, on-exceeded: {action: wait, max-wait: 5s}, match.annotated: true}
                  shadow: {limit: 1/minute, key: ip, mode: shadow, match.annotated: true}
                  forwards: {limit: 1/minute, key: ip, match.annotated: true}
                  stripped: {limit: 1/minute, key: ip, match: {annotated: true, when: "#request.requestURI.startsWith('/stripped/')"}}
                  listed: {limit: 1/minute, key: route, match.annotated: true}
                  also-listed: {limit: 1/minute, key: route, match.annotated: true}
                  callers: {limit: 1/minute, key: "header:X-Caller", missing-key: reject, match.annotated: true}
                  shown: {limit: 9/minute, key: "ip, route", match.annotated: true}
                  coded: {limit: 1/minute, key: "ip, route", match.annotated: true}
                  patient: {limit: 1/minute, key: ip, on-exceeded: {action: wait, max-wait: 5m}, match.annotated: true}
                  fallback: {limit: 1/minute, key: ip, match.annotated: true}
                """, Local.class, Coded.class);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @Test
    void route_withTwoPoliciesBesideADefaultOne_isChargedByAllOrNone() {
        int before = app.reached();
        assertThat(app.status("/two")).isEqualTo(200);
        assertThat(app.status("/two")).isEqualTo(200);
        assertThat(app.retryAfter("/two")).isEqualTo("30");
        assertThat(app.remaining("minute", "127.0.0.1")).isZero();
        assertThat(app.remaining("day", "127.0.0.1")).isEqualTo(1);
        assertThat(app.remaining("every", "127.0.0.1", "two")).isEqualTo(88);

        app.advance(Duration.ofMinutes(1));
        assertThat(app.status("/two")).isEqualTo(200);
        assertThat(app.retryAfter("/two")).isEqualTo("28740");
        assertThat(app.remaining("minute", "127.0.0.1")).isEqualTo(1);
        assertThat(app.remaining("every", "127.0.0.1", "two")).isEqualTo(89);
        assertThat(app.reached() - before).isEqualTo(3);
    }

    @Test
    void policy_byRoute_hasABudgetOfEachRoute() {
        assertThat(app.status("/east")).isEqualTo(200);
        assertThat(app.status("/east")).isEqualTo(200);
        RawResponse refused = app.get("/east");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isEqualTo("30");
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.body()).contains("\"violated-policies\":[\"each\"]");
        assertThat(app.status("/west")).isEqualTo(200);
        assertThat(app.get("/west").body()).contains("\"violated-policies\":[\"total\"]");
    }

    @Test
    void policy_thatADefaultFilterAndTheRouteName_isChargedOnce() {
        RawResponse response = app.get("/again");

        assertThat(response.header("RateLimit")).isEqualTo("\"every\";r=89;t=1");
        assertThat(app.remaining("every", "127.0.0.1", "again")).isEqualTo(89);
        assertThat(app.app().counted("every", "refused")).isZero();
    }

    @Test
    void request_thatTheGatewayRetries_isChargedOnce() {
        int before = app.reached();

        assertThat(app.status("/retried/status/503")).isEqualTo(503);

        assertThat(app.reached() - before).isEqualTo(4);
        assertThat(app.remaining("once", "127.0.0.1")).isEqualTo(1);
    }

    @Test
    void refusal_thatTheGatewayRetries_isNotPassedOn() {
        assertThat(app.status("/refused")).isEqualTo(200);
        int before = app.reached();

        assertThat(app.retryAfter("/refused")).isEqualTo("60");

        assertThat(app.reached()).isEqualTo(before);
        app.app().awaitCounted("first", "refused", 1);
    }

    @Test
    void refusal_ofARoute_givesBackWhatTheFiltersHaveCharged() {
        assertThat(app.status("/behind")).isEqualTo(200);
        for (int i = 0; i < 5; i++) {
            assertThat(app.retryAfter("/behind")).isEqualTo("60");
        }

        assertThat(app.remaining("wide", "127.0.0.1")).isEqualTo(4);
        await().untilAsserted(
                        () -> assertThat(app.app().counted("wide", "admitted")).isEqualTo(1));
    }

    @Test
    void policy_thatMatchesAPath_knowsTheRoute() {
        assertThat(app.status("/matched/here")).isEqualTo(200);
        assertThat(app.retryAfter("/matched/here/too")).isEqualTo("60");
        assertThat(app.remaining("every", "127.0.0.1", "matched")).isEqualTo(89);
    }

    @Test
    void charge_ofAStatusThatDoesNotCount_comesBack() {
        assertThat(app.status("/free/status/200")).isEqualTo(200);
        assertThat(app.status("/free/status/404")).isEqualTo(404);
        assertThat(app.status("/free/status/500")).isEqualTo(500);
        assertThat(app.status("/free/status/200")).isEqualTo(429);
    }

    @Test
    void heldPermit_ofAClientThatLeaves_comesBack() throws IOException {
        int before = app.reached();
        try (Socket client = app.app().client().begin("GET /held/never HTTP/1.1")) {
            await().until(() -> app.reached() > before);
            assertThat(app.status("/held/now")).isEqualTo(429);
            client.setSoLinger(true, 0);
        }

        await().untilAsserted(() -> assertThat(app.status("/held/now")).isEqualTo(200));
        assertThat(app.status("/held/now")).isEqualTo(200);
    }

    /** As a circuit breaker with a time limit does, which goes on with its fallback. */
    @Test
    void request_whoseWaitIsGivenUp_isChargedAnewWhereItGoesOn() {
        assertThat(app.get("/impatient").header("RateLimit")).contains("\"patient\";r=0");

        RawResponse second = untilPatienceEnds();
        assertThat(second.status()).isEqualTo(200);
        assertThat(second.body()).isEqualTo("local");
        assertThat(second.header("RateLimit")).contains("\"fallback\";r=0");

        RawResponse third = untilPatienceEnds();
        assertThat(third.status()).isEqualTo(429);
        assertThat(third.header("Retry-After")).isEqualTo("60");
    }

    private static RawResponse untilPatienceEnds() {
        CompletableFuture<RawResponse> answer = CompletableFuture.supplyAsync(() -> app.get("/impatient"));
        await().until(() -> app.app().bean(WaitingRequests.class).waiting("patient") == 1);
        assertThat(PATIENCE_ENDS.tryEmitNext(true)).isEqualTo(Sinks.EmitResult.OK);
        return answer.join();
    }

    @Test
    void request_thatWaits_isPassedOnLater() {
        assertThat(app.status("/waits")).isEqualTo(200);

        CompletableFuture<Integer> later = CompletableFuture.supplyAsync(() -> app.status("/waits"));

        // only then: a request that comes after the limit is whole again does not wait
        await().until(() -> app.app().bean(WaitingRequests.class).waiting("waits") == 1);
        app.advance(Duration.ofSeconds(1));
        assertThat(later).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(200);
        await().untilAsserted(
                        () -> assertThat(app.app().counted("waits", "waited")).isEqualTo(1));
    }

    @Test
    void policy_inShadowMode_refusesNobody() {
        assertThat(app.status("/shadow")).isEqualTo(200);
        assertThat(app.status("/shadow")).isEqualTo(200);

        await().untilAsserted(() ->
                assertThat(app.app().counted("shadow", "shadow-refused")).isEqualTo(1));
    }

    @Test
    void route_thatForwards_isChargedOnce() {
        assertThat(app.get("/forwards").body()).contains("local");
        assertThat(app.retryAfter("/forwards")).isEqualTo("60");
        assertThat(app.remaining("every", "127.0.0.1", "forwards")).isEqualTo(89);
    }

    @Test
    void path_thatIsRewritten_isStillThatOfTheClient() {
        assertThat(app.status("/stripped/exempt")).isEqualTo(200);
        assertThat(app.retryAfter("/stripped/exempt")).isEqualTo("60");
    }

    @Test
    void policies_asArguments_areAListOrText() {
        assertThat(app.status("/arguments")).isEqualTo(200);
        assertThat(app.get("/arguments").body()).contains("\"listed\"", "\"also-listed\"");
        assertThat(app.status("/text")).isEqualTo(200);
        assertThat(app.get("/text").body()).contains("\"listed\"", "\"also-listed\"");
    }

    @Test
    void route_inCode_isLimited() {
        assertThat(app.status("/coded")).isEqualTo(200);
        assertThat(app.retryAfter("/coded")).isEqualTo("60");
    }

    @Test
    void key_thatAFilterBeforeHasAdded_isKnown() {
        assertThat(app.status("/added")).isEqualTo(200);
        assertThat(app.status("/added")).isEqualTo(429);
        assertThat(app.remaining("callers", "ann")).isZero();
    }

    @Test
    void fieldsOfTheService_comeBesideOurs() {
        assertThat(app.get("/sends/fields").headerLines())
                .filteredOn(line -> line.startsWith("RateLimit: "))
                .containsExactlyInAnyOrder(
                        "RateLimit: \"every\";r=89;t=1, \"shown\";r=8;t=7", "RateLimit: \"service\";r=1;t=2");
        assertThat(app.get("/hides").header("RateLimit")).isNull();
    }

    @Test
    void explain_knowsTheRouteAndItsPolicies() {
        RequestFacts facts = new RequestFacts("GET", "/explained", "10.0.0.7", List.of());

        assertThat(app.app().bean(RequestExplainer.class).explain(facts, null, true))
                .containsEntry("route", "explained")
                .containsEntry("endpoint", "unmapped")
                .containsEntry("admitted", true)
                .extractingByKey("policies", as(list(Map.class)))
                .extracting(policy -> policy.get("policy") + " " + policy.get("key"))
                .containsExactly("every [10.0.0.7, explained]", "minute [10.0.0.7]");
    }
}
