package dev.ratelimit.spring.reactive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** The Java of docs/webflux.md: what stands there stands here, and runs. */
@Tag("servers")
class WebFluxPageTest {

    interface Tenants {
        Mono<String> ownerOf(@Nullable String key);
    }

    static class Reports {
        Mono<ServerResponse> show(ServerRequest request) {
            return ServerResponse.ok().bodyValue("report " + request.pathVariable("id"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Page {

        @Bean
        RouterFunction<ServerResponse> reports(RouteLimits limits, Reports reports) {
            return route().GET("/reports/{id}", reports::show)
                    .filter(limits.of("reports"))
                    .build();
        }

        @Bean
        ReactiveKeyResolver tenants(Tenants tenants) {
            return exchange ->
                    tenants.ownerOf(exchange.getRequest().getHeaders().getFirst("X-Api-Key"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Readers {

        @Bean
        Reports reportsOfTheReader() {
            return new Reports();
        }

        @Bean
        Tenants tenantsOfTheReader() {
            return Mono::justOrEmpty;
        }
    }

    @Test
    void java_ofThePage_isThatOfThisTest() throws IOException {
        String here = compact(
                Files.readString(
                        Path.of(
                                "../ratelimit-spring-boot-starter-webflux/src/test/java/dev/ratelimit/spring/reactive/WebFluxPageTest.java")));
        List<String> blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/webflux.md")))
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();

        assertThat(blocks).hasSize(2).allSatisfy(block -> {
            String[] parts = block.split("\n\n@Bean", 2);
            assertThat(here).contains(compact("@Bean" + parts[1]));
        });
    }

    private static String compact(String code) {
        return code.replaceAll("\\s+", "");
    }

    @Test
    void examples_ofThePage_limit() {
        try (RunningApp app = RunningApp.start(
                List.of(Page.class, Readers.class),
                "ratelimit.policies.reports.limit=1/minute",
                "ratelimit.policies.reports.key=bean:tenants",
                "ratelimit.policies.reports.match.annotated=true")) {
            assertThat(app.get("/reports/1", "X-Api-Key: a").status()).isEqualTo(200);
            assertThat(app.get("/reports/2", "X-Api-Key: a").status()).isEqualTo(429);
            assertThat(app.get("/reports/2", "X-Api-Key: b").body()).isEqualTo("report 2");
        }
    }
}
