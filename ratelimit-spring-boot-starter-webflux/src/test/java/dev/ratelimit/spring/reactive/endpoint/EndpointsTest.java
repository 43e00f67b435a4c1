package dev.ratelimit.spring.reactive.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.CompetingRoutes;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.test.FakeTicker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;

/** What is certain of a request is what WebFlux will find. */
class EndpointsTest {

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class Flux {}

    private static final String[] PATHS = {
        "/a", "/a/b", "/a/c", "/a/%62", "/a;v=1/b", "/A/b", "/a/x/c", "/any", "/any/x/y", "/nowhere", "/a/", "/a//c"
    };
    private static final HttpMethod[] METHODS = {
        HttpMethod.GET,
        HttpMethod.HEAD,
        HttpMethod.POST,
        HttpMethod.DELETE,
        HttpMethod.OPTIONS,
        HttpMethod.PUT,
        HttpMethod.valueOf("FOO")
    };
    private static final String[] TYPES = {"application/json", "text/plain", "image/png", "*/*", "no type"};

    private static ServerWebExchange randomExchange(Random random) {
        MockServerHttpRequest.BodyBuilder request = MockServerHttpRequest.method(
                METHODS[random.nextInt(METHODS.length)],
                PATHS[random.nextInt(PATHS.length)] + (random.nextInt(4) == 0 ? "?p=1" : ""));
        if (random.nextBoolean()) {
            request.header("Content-Type", TYPES[random.nextInt(TYPES.length)]);
        }
        if (random.nextBoolean()) {
            request.header("Accept", TYPES[random.nextInt(TYPES.length)]);
        }
        if (random.nextInt(4) == 0) {
            request.header("X-H", "1");
        }
        return MockServerWebExchange.from(request.build());
    }

    /** The handler that the mapping itself finds, or {@code null} if it refuses or has none of the application's. */
    private static @Nullable String handlerOf(HandlerMapping mapping, ServerWebExchange exchange) {
        ServerWebExchange view = new AttributeKeepingExchange(exchange);
        mapping.getHandler(view).onErrorComplete().block();
        PathPattern pattern = view.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        HandlerMethod handler = view.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
        return handler != null && pattern != null ? handler.getMethod().getName() + " " + pattern : null;
    }

    @Test
    void find_randomRequests_isWhatTheMappingWillFind() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        HandlerMapping mapping = new AnnotationConfigApplicationContext(Flux.class, CompetingRoutes.class)
                .getBean(RequestMappingHandlerMapping.class);
        Map<Endpoint, String> handlers = new HashMap<>();
        Endpoints endpoints = new Endpoints(
                List.of(mapping),
                (endpoint, handler) ->
                        handlers.put(endpoint, handler.getMethod().getName()) == null,
                () -> false,
                new FakeTicker());
        int found = 0;
        for (int i = 0; i < 5_000; i++) {
            ServerWebExchange exchange = randomExchange(random);
            Map<String, Object> before = Map.copyOf(exchange.getAttributes());
            String expected = handlerOf(mapping, exchange);

            Found known = endpoints.find(exchange);

            assertThat(known.certain()).isTrue();
            assertThat(exchange.getAttributes()).isEqualTo(before);
            if (expected != null) {
                found++;
                String handler = handlers.get(known.endpoint());
                assertThat(handler + " " + known.endpoint().id().split(" ", 2)[1])
                        .as(
                                "%s %s, seed %s",
                                exchange.getRequest().getMethod(),
                                exchange.getRequest().getURI(),
                                seed)
                        .isEqualTo(expected);
            }
        }
        assertThat(found).isGreaterThan(500);
    }
}
