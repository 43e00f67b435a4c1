package dev.ratelimit.spring.reactive.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.method;
import static org.springframework.web.reactive.function.server.RequestPredicates.path;
import static org.springframework.web.reactive.function.server.RequestPredicates.queryParam;
import static org.springframework.web.reactive.function.server.RouterFunctions.nest;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.rules.path.Routes;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RequestPredicate;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.function.server.support.RouterFunctionMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPatternParser;

/** What is certain of a functional route is what WebFlux will find. */
class FunctionalRoutesTest {

    private static final HandlerFunction<ServerResponse> OK =
            request -> ServerResponse.ok().build();

    private static final RouterFunction<ServerResponse> PREFIXES = nest(
                    path("/a").or(path("/b")), route(GET("/x"), OK))
            .and(nest(path("/c").negate(), route(GET("/w"), OK)))
            .and(route().path("/api/", below -> below.GET("/y", OK)).build())
            .and(route().path("/", below -> below.GET("/z", OK)).build())
            .and(route().path("/list", below -> below.GET("", OK)).build());

    @ParameterizedTest
    @ValueSource(strings = {"/a/x", "/b/x", "/w", "/api/y", "/z", "/list", "/list/"})
    void routes_belowAnyPrefix_mayLeadThere(String path) {
        Found found = find(indexed(PREFIXES), path);
        List<Routes.Route> answered = new ArrayList<>();
        FunctionalRoutes.addTo(answered, PREFIXES);

        assertThat(found).isNotNull();
        assertThat(new Routes(answered, pattern -> false, false, false).mayAnswer(path, true))
                .isTrue();
    }

    @Test
    void find_randomRoutes_isWhatWebFluxWillFind() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        int certain = 0;
        for (int i = 0; i < 300; i++) {
            RouterFunction<ServerResponse> function = randomFunction(random, 0);
            FunctionalRoutes indexed = indexed(function);
            for (int j = 0; j < 50; j++) {
                String path = randomPath(random);
                Found found = find(indexed, path);
                if (found == null || found.certain()) {
                    String pattern = handlerPattern(function, path);
                    certain += pattern == null ? 0 : 1;
                    assertThat(found == null ? null : found.endpoint().id())
                            .as("%s of %s, seed %s", path, function, seed)
                            .isEqualTo(pattern == null ? null : "ANY " + pattern);
                }
            }
        }
        assertThat(certain).isGreaterThan(100);
    }

    private static FunctionalRoutes indexed(RouterFunction<?> function) {
        return new FunctionalRoutes(function, PathPatternParser.defaultInstance);
    }

    private static @Nullable Found find(FunctionalRoutes routes, String path) {
        return routes.find(exchange(path).getRequest().getPath().pathWithinApplication(), HttpMethod.GET, false);
    }

    private static ServerWebExchange exchange(String path) {
        return MockServerWebExchange.from(
                MockServerHttpRequest.method(HttpMethod.GET, URI.create("http://localhost" + path)));
    }

    /** The pattern of the route that WebFlux finds; {@code null} if it finds none. */
    private static @Nullable String handlerPattern(RouterFunction<?> function, String path) {
        ServerWebExchange exchange = exchange(path);
        Object handler =
                new RouterFunctionMapping(function).getHandler(exchange).block();
        return handler == null
                ? null
                : String.valueOf(exchange.<Object>getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE));
    }

    private static RouterFunction<ServerResponse> randomFunction(Random random, int depth) {
        return IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(i -> depth < 3 && random.nextBoolean()
                        ? nest(randomPredicate(random, true), randomFunction(random, depth + 1))
                        : route(randomPredicate(random, false), OK))
                .reduce(RouterFunction::and)
                .orElseThrow();
    }

    private static RequestPredicate randomPredicate(Random random, boolean prefix) {
        return switch (random.nextInt(12)) {
            case 0 -> randomPredicate(random, prefix).or(randomPredicate(random, prefix));
            case 1 -> randomPredicate(random, prefix).and(randomPredicate(random, prefix));
            case 2 -> randomPredicate(random, prefix).negate();
            case 3 -> queryParam("p", "1"::equals);
            case 4 -> method(random.nextBoolean() ? HttpMethod.GET : HttpMethod.POST);
            case 5 -> path(prefix ? "/" : "");
            default -> path(randomPattern(random, prefix));
        };
    }

    private static String randomPattern(Random random, boolean prefix) {
        String pattern = IntStream.rangeClosed(0, random.nextInt(2))
                .mapToObj(i -> "/" + one(random, "a", "a", "b", "{v" + random.nextInt(1_000) + "}", "*", "a*"))
                .collect(Collectors.joining());
        return pattern + one(random, "", "", "", "", "/", prefix ? "" : "/**", "/{*rest}");
    }

    private static String randomPath(Random random) {
        String path = IntStream.rangeClosed(0, random.nextInt(4))
                .mapToObj(i -> one(random, "/", "/", "/", "/", "//") + one(random, "a", "a", "b", "ab", "a;v=1", "%61"))
                .collect(Collectors.joining());
        return path + one(random, "", "", "", "/") + one(random, "", "", "?p=1");
    }

    private static String one(Random random, String... of) {
        return of[random.nextInt(of.length)];
    }
}
