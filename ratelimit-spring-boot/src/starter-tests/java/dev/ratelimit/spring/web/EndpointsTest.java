package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.TestApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Which endpoint a request is charged to. */
@Tag("servers")
class EndpointsTest extends AppPerTest {

    @RestController
    static class Annotated {

        @RateLimited("1/minute")
        @GetMapping("/annotated")
        String annotated() {
            return "annotated";
        }

        @RateLimited("1/minute")
        @GetMapping(path = "/versions", params = "v=1")
        String first() {
            return "1";
        }

        @RateLimited("2/minute")
        @GetMapping(path = "/versions", params = "v=2")
        String second() {
            return "2";
        }

        @RateLimited("1/minute")
        @PostMapping(path = "/json", consumes = "application/json")
        String json() {
            return "{}";
        }
    }

    private void with(String... properties) {
        start(List.of(TestApi.class, Annotated.class, Functions.class), properties);
    }

    private List<Integer> statuses(String... requestLines) {
        return List.of(requestLines).stream()
                .map(line -> app.send(line + " HTTP/1.1").status())
                .toList();
    }

    @Test
    void annotation_onAHandler_limitsIt() {
        with();

        assertThat(statuses("GET /annotated", "GET /annotated", "GET /any")).containsExactly(200, 429, 200);
    }

    @Test
    void head_countsAsGet() {
        with();

        assertThat(statuses("HEAD /annotated", "GET /annotated")).containsExactly(200, 429);
    }

    @Test
    void handlers_thatParametersTellApart_haveTheirOwnLimits() {
        with();

        assertThat(statuses("GET /versions?v=1", "GET /versions?v=1", "GET /versions?v=2", "GET /versions?v=2"))
                .containsExactly(200, 429, 200, 200);
        assertThat(statuses("GET /versions?v=2")).containsExactly(429);
    }

    @Test
    void wrongMethod_andWrongType_areChargedToTheClosestEndpoint() {
        with();

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
        with("p.limit=1/minute", "p.key=endpoint");

        assertThat(statuses("GET /orders/1", "GET /orders/2", "DELETE /orders/2"))
                .containsExactly(200, 429, 200);
        assertThat(statuses("GET /fn/a", "GET /fn/b")).containsExactly(200, 429);
        assertThat(statuses("GET /choice?q=1", "GET /choice?q=2")).containsExactly(200, 429);
        assertThat(statuses("GET /nowhere", "GET /nothing", "GET /static.txt", "GET /other.txt"))
                .containsExactly(404, 429, 200, 429);
    }

    @Test
    void budgets_byEndpointBeforeSecurity_areFoundWithoutTheHandler() {
        with("p.limit=1/minute", "p.key=path:id", "p.match.paths=/orders/**");

        assertThat(statuses("GET /orders/1", "GET /orders/2", "GET /orders/1")).containsExactly(200, 200, 429);
    }

    @Test
    void pathsWithoutAHandler_doNotUseUpThePages(@TempDir Path directory) throws IOException {
        Files.createDirectories(directory.resolve("files"));
        Files.writeString(directory.resolve("files/a b.txt"), "the file");
        Files.writeString(directory.resolve("index.html"), "welcome");
        start(
                List.of(TestApi.class),
                "spring.web.resources.static-locations=" + directory.toUri(),
                "p.limit=4/hour",
                "p.key=endpoint");
        for (int i = 0; i < 5; i++) {
            assertThat(app.get("/no/such/path" + i).status()).isEqualTo(i < 4 ? 404 : 429);
        }

        // other spellings of a file are the same file
        assertThat(app.get("/files/a%20b.txt").body()).contains("the file");
        assertThat(app.get("/files/a%20b.txt").body()).contains("the file");
        assertThat(app.get("/files//a%20b.txt").status()).isIn(200, 404);
        assertThat(app.get("/files/none").status()).isEqualTo(429); // no handler
    }

    @Test
    void pathOfTheApplication_isNoPartOfPatterns() {
        start(
                List.of(TestApi.class),
                "server.servlet.context-path=/shop",
                "spring.webflux.base-path=/shop",
                "p.limit=1/minute",
                "p.key=endpoint",
                "ratelimit.policies.q.limit=100/hour",
                "ratelimit.policies.q.match.paths=/orders/**");

        assertThat(statuses("GET /shop/orders/1", "GET /shop/orders/2", "DELETE /shop/orders/1", "GET /shop/any"))
                .containsExactly(200, 429, 200, 200);
        app.awaitCounted("q", "admitted", 2);
    }
}
