package dev.ratelimit.spring.reactive.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.reactive.GatewayLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The examples of docs/gateway.md, and those for the gateway of its page on migration, exactly as written there. */
@Tag("servers")
@Tag("slow")
@EnabledIf("dev.ratelimit.spring.reactive.gateway.RoutedApp#isPossible")
class GatewayPageTest {

    @Configuration(proxyBeanMethods = false)
    static class Page {

        @Bean
        RouteLocator routes(RouteLocatorBuilder routes, GatewayLimits limits) {
            return routes.routes()
                    .route(
                            "catalog",
                            route -> route.path("/catalog/**")
                                    .filters(filters -> filters.filter(limits.of("per-minute", "per-day")))
                                    .uri("http://catalog:8080"))
                    .build();
        }
    }

    private static List<String> blocks(String page, String language) throws IOException {
        return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs", page)))
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();
    }

    private static RoutedApp start(String page, int block, Class<?>... sources) throws IOException {
        String yaml = blocks(page, "yaml").get(block);
        return RoutedApp.start(
                yaml.replaceAll("http://[a-z]+:8080", "\\$SERVICE").replace("type: redis", "type: memory"), sources);
    }

    private static List<Integer> get(RoutedApp app, int times, String path, String... headers) {
        return IntStream.range(0, times)
                .mapToObj(i -> app.status(path, headers))
                .toList();
    }

    @Test
    void routes_areLimitedByAllThatTheyName() throws IOException {
        try (RoutedApp app = start("gateway.md", 0)) {
            assertThat(get(app, 61, "/orders/1", "X-Api-Key: a")).endsWith(200, 429);
            assertThat(app.status("/orders/1")).isEqualTo(400);
            assertThat(app.status("/catalog/1")).isEqualTo(200);
            assertThat(app.remaining("per-client", "127.0.0.1")).isEqualTo(39);
            assertThat(app.remaining("per-day", "a")).isEqualTo(9940);
            assertThat(app.remaining("per-route", "catalog")).isEqualTo(599);
        }
    }

    @Test
    void arguments_areAsGoodAsTheShortForm() throws IOException {
        try (RoutedApp app = start("gateway.md", 1)) {
            assertThat(get(app, 61, "/catalog/1")).endsWith(200, 429);
        }
    }

    @Test
    void migration_twentyAtOnce_thenTenPerSecond() throws IOException {
        try (RoutedApp app = start("migrate/spring-cloud-gateway.md", 1)) {
            assertThat(app.status("/orders/1")).isEqualTo(400);
            assertThat(get(app, 21, "/orders/1", "X-Api-Key: a")).endsWith(200, 429);
            app.advance(Duration.ofMillis(100));
            assertThat(get(app, 2, "/orders/1", "X-Api-Key: a")).containsExactly(200, 429);
            assertThat(app.get("/orders/1", "X-Api-Key: a").header("X-RateLimit-Remaining"))
                    .isEqualTo("0");
        }
    }

    @Test
    void java_isThatOfThisTest() throws IOException {
        String here = compact(
                Files.readString(
                        Path.of(
                                "../ratelimit-spring-boot-starter-webflux/src/test/java/dev/ratelimit/spring/reactive/gateway/GatewayPageTest.java")));

        assertThat(blocks("gateway.md", "java"))
                .singleElement()
                .satisfies(block -> assertThat(here).contains(compact("@Bean" + block.split("\n\n@Bean", 2)[1])));
    }

    private static String compact(String code) {
        return code.replaceAll("\\s+", "");
    }
}
