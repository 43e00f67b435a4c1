package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What callers see in responses. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class AnswersTest {

    /** A redirect, and an endpoint that scripts of one origin may read. */
    @RestController
    static class Pages {

        @GetMapping("/see-other")
        ResponseEntity<Void> seeOther() {
            return ResponseEntity.status(HttpStatus.SEE_OTHER)
                    .header("Location", "/any")
                    .build();
        }

        @GetMapping("/scripted")
        @CrossOrigin("https://app.example")
        @RateLimited(value = "1/hour", key = "header:X-Case")
        String scripted() {
            return "scripted";
        }
    }

    private static final Pattern ITEM = Pattern.compile("\"[!-~&&[^\"\\\\]]+\";(q=\\d+;w=\\d+|r=\\d+;t=\\d+)");

    private final RunningApp app;

    AnswersTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(TestApi.class, Pages.class, Committing.class),
                "ratelimit.policies.by-case.limit=1/hour; 2/day",
                "ratelimit.policies.by-case.key=header:X-Case",
                "ratelimit.policies.by-case.missing-key=skip",
                "ratelimit.policies.by-case.match.except-paths=/scripted",
                "ratelimit.policies.by-name.limit=3/hour",
                "ratelimit.policies.by-name.key=query:name",
                "ratelimit.policies.by-name.missing-key=skip");
    }

    private RawResponse refused(String path, String... headers) {
        app.get(path, headers);
        RawResponse refused = app.get(path, headers);
        assertThat(refused.status()).isEqualTo(429);
        return refused;
    }

    @Test
    @DisplayName("C16 a refusal is well formed and reveals nothing about the request")
    void refusal_isWellFormed() {
        RawResponse refused = refused("/orders/secret-path?secret=query", "X-Case: secret\"key\\");

        int wait = Integer.parseInt(String.valueOf(refused.header("Retry-After")));
        assertThat(wait).isIn(3600, 3601);
        assertThat(refused.header("Cache-Control")).isEqualTo("no-store");
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        for (String field : List.of("RateLimit", "RateLimit-Policy")) {
            assertThat(String.valueOf(refused.header(field)).split(", ", -1))
                    .hasSize(2)
                    .allMatch(item -> ITEM.matcher(item).matches());
        }
        JsonNode problem = JsonMapper.shared().readTree(refused.body());
        assertThat(problem.propertyNames())
                .containsExactlyInAnyOrder("type", "title", "status", "detail", "violated-policies", "retry-after");
        assertThat(problem.get("retry-after").intValue()).isEqualTo(wait);
        assertThat(refused.toString()).doesNotContain("secret").doesNotContain("127.0.0.1");
    }

    @Test
    @DisplayName("C17 callers who use another's name do not see the budget of that name")
    void budgetOfAName_isNotShown() {
        RawResponse known = app.get("/any?name=known");
        app.get("/any?name=known");
        RawResponse knownAgain = app.get("/any?name=known");
        RawResponse unknown = app.get("/any?name=unknown");

        for (RawResponse response : List.of(known, knownAgain, unknown)) {
            assertThat(response.status()).isEqualTo(200);
            assertThat(response.headerLines()).noneMatch(line -> line.contains("RateLimit"));
        }
        assertThat(app.get("/any?name=known").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("C18 a redirect has no RateLimit fields, and Retry-After is not before the reset")
    void redirect_hasNoFields() {
        assertThat(app.get("/any", "X-Case: plain").header("RateLimit")).isNotNull();
        for (String path : List.of("/redirect", "/see-other")) {
            RawResponse redirect = app.get(path, "X-Case: " + path);
            assertThat(redirect.status()).isBetween(300, 399);
            assertThat(redirect.header("Location")).endsWith("/any");
            assertThat(redirect.header("RateLimit")).isNull();
            assertThat(redirect.header("RateLimit-Policy")).isNull();
        }

        RawResponse refused = app.get("/any", "X-Case: plain");
        int wait = Integer.parseInt(String.valueOf(refused.header("Retry-After")));
        Pattern.compile("r=0;t=(\\d+)")
                .matcher(String.valueOf(refused.header("RateLimit")))
                .results()
                .forEach(reset -> assertThat(wait).isGreaterThanOrEqualTo(Integer.parseInt(reset.group(1))));
    }

    @Test
    void head_isRefusedWithoutABody() {
        app.send("HEAD /any HTTP/1.1", "X-Case: head");

        RawResponse refused = app.send("HEAD /any HTTP/1.1", "X-Case: head");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isNotNull();
        assertThat(refused.body()).isEmpty();
    }

    @Test
    void committedResponse_isLeftAlone_andTheRequestEnds() {
        app.get("/orders/1", "X-Case: committed");
        int reached = app.bean(TestApi.class).reached();

        RawResponse response = app.get("/orders/1", "X-Case: committed", "X-Commit: yes");

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.body()).contains("x");
        assertThat(app.bean(TestApi.class).reached()).isEqualTo(reached);
    }

    @Test
    void refusal_canBeReadByTheScriptsThatMayReadTheEndpoint() {
        RawResponse refused = refused("/scripted", "X-Case: cors", "Origin: https://app.example");

        assertThat(refused.header("Access-Control-Allow-Origin")).isEqualTo("https://app.example");
        assertThat(refused.header("Access-Control-Expose-Headers"))
                .isEqualTo("RateLimit-Policy, RateLimit, Retry-After");
        assertThat(refused.header("Vary")).isEqualTo("Origin");
        RawResponse evil = app.get("/scripted", "X-Case: cors", "Origin: https://evil.example");
        assertThat(evil.status()).isEqualTo(429);
        assertThat(evil.header("Access-Control-Allow-Origin")).isNull();
        assertThat(app.get("/scripted", "X-Case: cors").header("Access-Control-Allow-Origin"))
                .isNull();
    }
}
