package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Configured policies, over HTTP. */
@Tag("servers")
class EnforcementTest extends AppPerTest {

    private static final String NO_JITTER = "ratelimit.policies.%s.retry-jitter.max=0s";

    private void start(String... properties) {
        start(List.of(TestApi.class, Functions.class), properties);
    }

    @Test
    void request_withinLimit_showsTheCallerItsOwnBudget() {
        start(
                "ratelimit.policies.global.limit=6000/minute",
                "ratelimit.policies.per-endpoint.limit=3000/minute",
                "ratelimit.policies.per-endpoint.key=endpoint",
                "ratelimit.policies.per-user.limit=600/minute",
                "ratelimit.policies.per-user.burst=800",
                "ratelimit.policies.per-user.key=user, endpoint");

        RawResponse response = app.get("/orders/1");

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.header("RateLimit-Policy")).isEqualTo("\"per-user\";q=800;w=80");
        assertThat(response.header("RateLimit")).isEqualTo("\"per-user\";r=799;t=1");
    }

    @Test
    void request_beyondLimit_isRefusedUntilRetryAfter() {
        start(
                "ratelimit.policies.per-user.limit=2/minute",
                "ratelimit.policies.per-user.key=user",
                NO_JITTER.formatted("per-user"));
        app.get("/orders/1");
        app.get("/orders/1");

        RawResponse refused = app.get("/orders/1", "Accept: text/html");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Retry-After")).isEqualTo("30");
        assertThat(refused.header("Cache-Control")).isEqualTo("no-store");
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.header("RateLimit")).isEqualTo("\"per-user\";r=0;t=30");
        JsonNode problem = JsonMapper.shared().readTree(refused.body());
        assertThat(problem.toString())
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                        + "\"title\":\"Too Many Requests\",\"status\":429,"
                        + "\"detail\":\"Limit 'per-user' of 2 per minute is exceeded. Retry after 30 seconds.\","
                        + "\"violated-policies\":[\"per-user\"],\"retry-after\":30}");
        app.ticker().advance(Duration.ofSeconds(30));
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
    }

    @Test
    void request_refusedByOnePolicy_paysNoOther() {
        start(
                "ratelimit.policies.wide.limit=3/hour",
                "ratelimit.policies.wide.match.paths=/orders/**, /any",
                "ratelimit.policies.tight.limit=1/minute",
                "ratelimit.policies.tight.match.paths=/orders/**");
        app.get("/orders/1");
        for (int i = 0; i < 5; i++) {
            assertThat(app.get("/orders/1").status()).isEqualTo(429);
        }

        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(429);
    }

    @Test
    void endpointKey_isTheHandlersPattern_whateverThePathAndWhateverWasMissed() {
        start("ratelimit.policies.per-endpoint.limit=4/hour", "ratelimit.policies.per-endpoint.key=endpoint");
        app.get("/orders/1");
        app.get("/orders/%31;a=b");
        app.send("HEAD /orders/2 HTTP/1.1");
        app.send("OPTIONS /orders/2 HTTP/1.1"); // not a preflight: charged to DELETE, the first endpoint of the path

        assertThat(app.get("/orders/3").status()).isEqualTo(200);
        assertThat(app.get("/orders/3").status()).isEqualTo(429);
        assertThat(app.send("DELETE /orders/3 HTTP/1.1").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(200);
    }

    @Test
    void endpointKey_wrongMethodOrType_isChargedLikeTheEndpointItMissed() {
        start("ratelimit.policies.per-endpoint.limit=3/hour", "ratelimit.policies.per-endpoint.key=endpoint");
        String[] json = {"Content-Type: application/json", "Content-Length: 0"};

        assertThat(app.get("/orders").status()).isEqualTo(405);
        assertThat(app.send("POST /orders HTTP/1.1", "Content-Type: text/plain", "Content-Length: 0")
                        .status())
                .isEqualTo(415);
        assertThat(app.send("POST /orders HTTP/1.1", json[0], json[1], "Accept: image/png")
                        .status())
                .isEqualTo(406);

        assertThat(app.send("POST /orders HTTP/1.1", json).status()).isEqualTo(429);
    }

    @Test
    void endpointKey_nothingThere_sharesOneBudget() {
        start("ratelimit.policies.per-endpoint.limit=3/hour", "ratelimit.policies.per-endpoint.key=endpoint");

        assertThat(app.get("/nowhere").status()).isEqualTo(404);
        assertThat(app.get("/else").status()).isEqualTo(404);
        assertThat(app.get("/orders/1/").status()).isEqualTo(404);
        assertThat(app.get("/other").status()).isEqualTo(429);
        assertThat(app.get("/fn/bob").status()).isEqualTo(200);
        assertThat(app.get("/fn/eve").body()).contains("eve");
        assertThat(app.get("/fn/eve").status()).isEqualTo(200);
        assertThat(app.get("/fn/joe").status()).isEqualTo(429);
    }

    @Test
    void preflight_isFree() {
        start("ratelimit.policies.global.limit=1/hour");
        for (int i = 0; i < 3; i++) {
            RawResponse preflight = app.send(
                    "OPTIONS /orders/1 HTTP/1.1", "Origin: https://example.org", "Access-Control-Request-Method: GET");
            assertThat(preflight.status()).isNotEqualTo(429);
        }

        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(app.send("OPTIONS /orders/1 HTTP/1.1").status()).isEqualTo(429);
    }

    @Test
    void headerKey_eachValueHasABudget_noneOrSeveralIsTheAddress() {
        start("ratelimit.policies.keys.limit=1/hour", "ratelimit.policies.keys.key=header:X-Api-Key");

        assertThat(app.get("/any", "X-Api-Key: a").status()).isEqualTo(200);
        assertThat(app.get("/any", "x-api-key:  a ").status()).isEqualTo(429);
        assertThat(app.get("/any", "X-Api-Key: b").status()).isEqualTo(200);
        assertThat(app.get("/any", "X-Api-Key: " + "x".repeat(7_000)).status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/any", "X-Api-Key: c", "X-Api-Key: d").status()).isEqualTo(429);
        assertThat(app.get("/any", "X-Api-Key: ").status()).isEqualTo(429);
    }

    @Test
    void methodKey_inventedMethodsShareOne() {
        start("ratelimit.policies.methods.limit=1/hour", "ratelimit.policies.methods.key=method");

        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.send("HEAD /any HTTP/1.1").status()).isEqualTo(429);
        assertThat(app.send("FOO /any HTTP/1.1").status()).isNotEqualTo(429);
        assertThat(app.send("BAR /any HTTP/1.1").status()).isEqualTo(429);
    }

    @Test
    void severalLimits_eachHasItsItem() {
        start("ratelimit.policies.ip.limit=5/minute; 50/day", "ratelimit.policies.ip.key=ip");

        RawResponse response = app.get("/any");

        assertThat(response.header("RateLimit-Policy")).isEqualTo("\"ip/60\";q=5;w=60, \"ip/86400\";q=50;w=86400");
        assertThat(response.header("RateLimit")).isEqualTo("\"ip/60\";r=4;t=12, \"ip/86400\";r=49;t=1728");
    }

    @Test
    void headersAndResponse_canBeChosen() {
        start(
                "ratelimit.policies.ip.limit=1/minute",
                "ratelimit.policies.ip.key=ip",
                NO_JITTER.formatted("ip"),
                "ratelimit.headers=legacy",
                "ratelimit.retry-after-millis-header=X-RetryAfterMs",
                "ratelimit.response.status=503",
                "ratelimit.response.body=text",
                "ratelimit.response.detail=Später, \"please\"");
        app.get("/any");
        app.ticker().advance(Duration.ofMillis(500));

        RawResponse refused = app.get("/any");

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.header("RateLimit")).isNull();
        assertThat(refused.header("X-RateLimit-Limit")).isEqualTo("1");
        assertThat(refused.header("X-RateLimit-Remaining")).isEqualTo("0");
        assertThat(refused.header("X-RateLimit-Reset")).isEqualTo("60");
        assertThat(refused.header("Retry-After")).isEqualTo("60");
        assertThat(refused.header("X-RetryAfterMs")).isEqualTo("59500");
        assertThat(refused.header("Content-Type")).isEqualTo("text/plain;charset=UTF-8");
    }

    @Test
    void headers_ofANamedDraft_areWritten() {
        start("ratelimit.policies.ip.limit=5/minute", "ratelimit.policies.ip.key=ip", "ratelimit.headers=draft-10");

        assertThat(app.get("/any").header("RateLimit")).isEqualTo("\"ip\";r=4;t=12");
    }

    @Test
    void bodyNone_headersNone_isBare() {
        start(
                "ratelimit.policies.ip.limit=1/minute",
                "ratelimit.policies.ip.key=ip",
                "ratelimit.headers=none",
                "ratelimit.response.body=none");
        app.get("/any");

        RawResponse refused = app.get("/any");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).isEmpty();
        assertThat(refused.header("RateLimit")).isNull();
        assertThat(Integer.parseInt(String.valueOf(refused.header("Retry-After"))))
                .isIn(60, 61);
    }

    @Test
    void jitter_spreadsRetryAfter() {
        start(
                "ratelimit.policies.ip.limit=1/minute",
                "ratelimit.policies.ip.key=ip",
                "ratelimit.policies.ip.retry-jitter.min=10s",
                "ratelimit.policies.ip.retry-jitter.max=40s");
        app.get("/any");
        List<Integer> waits = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            waits.add(Integer.parseInt(String.valueOf(app.get("/any").header("Retry-After"))));
        }

        assertThat(waits).allMatch(wait -> wait >= 70 && wait <= 100);
        assertThat(waits.stream().distinct().count()).isGreaterThan(5);
    }

    @Test
    void modeOffAndPermitsZero_limitNothing_permitsMultiply() {
        start(
                "ratelimit.policies.off.limit=1/hour",
                "ratelimit.policies.off.mode=off",
                "ratelimit.policies.priceless.limit=1/hour",
                "ratelimit.policies.priceless.permits=0",
                "ratelimit.policies.dear.limit=10/hour",
                "ratelimit.policies.dear.permits=5",
                "ratelimit.policies.dear.match.except-paths=/any");

        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(app.get("/orders/1").status()).isEqualTo(200);
        assertThat(app.get("/orders/1").status()).isEqualTo(429);
    }
}
