package dev.ratelimit.spring.reactive.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.queryParam;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** Which endpoint a request is charged to. */
@Tag("servers")
class EndpointsTest {

    @RestController
    static class Annotated {

        @RateLimited("1/minute")
        @GetMapping("/annotated")
        Mono<String> annotated() {
            return Mono.just("annotated");
        }

        @RateLimited("1/minute")
        @GetMapping(path = "/versions", params = "v=1")
        Mono<String> first() {
            return Mono.just("1");
        }

        @RateLimited("2/minute")
        @GetMapping(path = "/versions", params = "v=2")
        Mono<String> second() {
            return Mono.just("2");
        }

        @RateLimited("1/minute")
        @PostMapping(path = "/json", consumes = "application/json")
        Mono<String> json() {
            return Mono.just("{}");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Functions {

        @Bean
        RouterFunction<ServerResponse> functions() {
            return route(GET("/fn/{name}"), request -> ServerResponse.ok().bodyValue("plain"))
                    .andRoute(
                            GET("/choice").and(queryParam("q", "1")),
                            request -> ServerResponse.ok().bodyValue("one"))
                    .andRoute(GET("/choice"), request -> ServerResponse.ok().bodyValue("other"));
        }
    }

    private RunningApp app = start();

    private static RunningApp start(String... properties) {
        return RunningApp.start(List.of(TestApi.class, Annotated.class, Functions.class), properties);
    }

    @AfterEach
    void stop() {
        app.close();
    }

    private void restart(String... properties) {
        app.close();
        app = start(properties);
    }

    private List<Integer> statuses(String... requestLines) {
        return List.of(requestLines).stream()
                .map(line -> app.send(line + " HTTP/1.1").status())
                .toList();
    }

    @Test
    void annotation_onAHandler_limitsIt() {
        assertThat(statuses("GET /annotated", "GET /annotated", "GET /any")).containsExactly(200, 429, 200);
    }

    @Test
    void head_countsAsGet() {
        assertThat(statuses("HEAD /annotated", "GET /annotated")).containsExactly(200, 429);
    }

    @Test
    void handlers_thatParametersTellApart_haveTheirOwnLimits() {
        assertThat(statuses("GET /versions?v=1", "GET /versions?v=1", "GET /versions?v=2", "GET /versions?v=2"))
                .containsExactly(200, 429, 200, 200);
        assertThat(statuses("GET /versions?v=2")).containsExactly(429);
    }

    @Test
    void wrongMethod_andWrongType_areChargedToTheClosestEndpoint() {
        assertThat(statuses("DELETE /annotated", "DELETE /annotated")).containsExactly(405, 429);
        assertThat(app.client()
                        .sendBody("POST /json HTTP/1.1", "x", "Content-Type: text/plain")
                        .status())
                .isEqualTo(415);
        assertThat(app.client()
                        .sendBody("POST /json HTTP/1.1", "x", "Content-Type: text/plain")
                        .status())
                .isEqualTo(429);
    }

    @Test
    void budgets_byEndpoint_areThoseOfRoutesFunctionsFilesAndNowhere() {
        restart("ratelimit.policies.each.limit=1/minute", "ratelimit.policies.each.key=endpoint");

        assertThat(statuses("GET /orders/1", "GET /orders/2", "DELETE /orders/2"))
                .containsExactly(200, 429, 200);
        assertThat(statuses("GET /fn/a", "GET /fn/b")).containsExactly(200, 429);
        assertThat(statuses("GET /choice?q=1", "GET /choice?q=2")).containsExactly(200, 429);
        assertThat(statuses("GET /nowhere", "GET /nothing", "GET /static.txt", "GET /other.txt"))
                .containsExactly(404, 429, 200, 429);
    }

    @Test
    void budgets_byEndpointBeforeSecurity_areFoundWithoutTheHandler() {
        restart(
                "ratelimit.policies.each.limit=1/minute",
                "ratelimit.policies.each.key=path:id",
                "ratelimit.policies.each.match.paths=/orders/**");

        assertThat(statuses("GET /orders/1", "GET /orders/2", "GET /orders/1")).containsExactly(200, 200, 429);
    }
}
