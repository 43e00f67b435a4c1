package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Recorded requests, by the actuator. */
@Tag("servers")
class RecordingEndpointTest extends AppPerTest {

    private static final String ON = "ratelimit.recording.enabled=true";

    private ActuatorClient app(String... properties) {
        startOwn(
                List.of(TestApi.class),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits,health",
                        "p.limit=2/hour",
                        "p.key=header:X-Id, endpoint",
                        "p.overrides[vip]=1000/hour",
                        "p.match.paths=/orders/**",
                        "ratelimit.policies.shared.limit=100/hour",
                        "ratelimit.policies.shared.permits=3",
                        "ratelimit.policies.ips.limit=100/hour",
                        "ratelimit.policies.ips.key=ip"),
                properties);
        return new ActuatorClient(app);
    }

    /** The lines, as soon as there are so many requests. */
    private static List<JsonNode> recorded(ActuatorClient actuator, int requests) {
        await().untilAsserted(() ->
                assertThat(actuator.get("/recording").body().lines()).hasSize(requests + 1));
        return actuator.get("/recording")
                .body()
                .lines()
                .map(line -> JsonMapper.shared().readTree(line))
                .toList();
    }

    /**
     * Sends requests one after another. A client has its answer before the server has recorded it, and may be faster with the
     * next request.
     */
    private void getInTurn(ActuatorClient actuator, String... paths) {
        for (int i = 0; i < paths.length; i++) {
            app.get(paths[i], "X-Id: secret-a");
            recorded(actuator, i + 1);
        }
    }

    @Test
    void recording_byDefault_isNone() {
        ActuatorClient actuator = app();

        ActuatorClient.Answer answer = actuator.get("/recording");

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().get("error").asString()).contains("ratelimit.recording.enabled: true");
    }

    @Test
    void recording_hasWhatAReplayNeeds() {
        ActuatorClient actuator = app(ON);
        getInTurn(actuator, "/orders/1", "/orders/2?token=secret-b", "/orders/3");
        app.get("/orders/4", "X-Id: vip");
        app.get("/actuator/health");

        List<JsonNode> lines = recorded(actuator, 4);

        assertThat(actuator.get("/recording").type()).isEqualTo("application/x-ndjson");
        assertThat(lines.toString()).doesNotContain("secret", "127.0.0.1", "vip");
        JsonNode policy = lines.get(0).get("policies").get("p");
        assertThat(policy.get("limit").asString()).isEqualTo("2/hour");
        assertThat(policy.get("key").toString()).isEqualTo("[\"header:x-id\",\"endpoint\"]");
        assertThat(policy.get("applies").asString()).isEqualTo("on /orders/**");
        assertThat(policy.get("overrides").toString()).isEqualTo("[\"1000/hour\"]");
        JsonNode first = lines.get(1);
        assertThat(first.get("time").asString()).startsWith("2027-01-01T00:00");
        assertThat(first.get("method").asString()).isEqualTo("GET");
        assertThat(first.get("path").asString()).isEqualTo("/orders/{id}");
        assertThat(first.get("status").asInt()).isEqualTo(200);
        assertThat(first.get("duration_ns").asLong()).isZero();
        assertThat(first.get("policies").get("shared").get("permits").asInt()).isEqualTo(3);
        String key = first.get("policies").get("p").get("key").asString();
        assertThat(key).matches("#[0-9a-f]{12} GET /orders/\\{id}");
        assertThat(lines.get(2).get("policies").get("p").get("key").asString()).isEqualTo(key);
        assertThat(first.get("policies").get("ips").get("key")).isEqualTo(first.get("address"));
        JsonNode refused = lines.get(3);
        assertThat(refused.get("refused").asBoolean()).isTrue();
        assertThat(refused.has("status")).isFalse();
        assertThat(refused.get("policies").propertyNames()).contains("p", "shared", "ips");
        assertThat(lines.get(4).get("policies").get("p").get("override").asString())
                .isEqualTo("1000/hour");
    }

    @Test
    void recording_keepsTheLatest() {
        ActuatorClient actuator = app(ON, "ratelimit.recording.max-requests=3");

        getInTurn(actuator, "/any", "/any");
        for (int i = 0; i < 3; i++) {
            app.get("/orders/1");
        }

        await().untilAsserted(() -> assertThat(
                        recorded(actuator, 3).get(0).get("forgotten").asInt())
                .isEqualTo(2));
        assertThat(recorded(actuator, 3).subList(1, 4))
                .allSatisfy(line -> assertThat(line.get("path").asString()).isEqualTo("/orders/{id}"));
    }

    @Test
    void recording_ofAResponseThatEndsLater_hasItsStatus() {
        ActuatorClient actuator = app(ON);
        getInTurn(actuator, "/deferred", "/boom", "/redirect");

        List<JsonNode> lines = recorded(actuator, 3);

        assertThat(lines.subList(1, 4))
                .extracting(line -> line.get("status").asInt())
                .containsExactly(200, 500, 302);
    }

    @Test
    void recording_ofAShare_hasAllRequestsOfSomeCallers() {
        ActuatorClient actuator = app(
                ON,
                "ratelimit.recording.share=0.5",
                "ratelimit.trusted-proxies=127.0.0.1",
                "ratelimit.forwarded-header=x-forwarded-for");
        for (int i = 0; i < 200; i++) {
            app.get("/any", "X-Forwarded-For: 203.0.113." + i % 100);
        }

        await().pollDelay(Duration.ZERO).untilAsserted(() -> {
            List<String> addresses = actuator.get("/recording")
                    .body()
                    .lines()
                    .skip(1)
                    .map(line ->
                            JsonMapper.shared().readTree(line).get("address").asString())
                    .toList();
            assertThat(addresses.stream().distinct()).hasSizeBetween(20, 80);
            assertThat(addresses)
                    .allSatisfy(address -> assertThat(addresses.stream().filter(address::equals))
                            .hasSize(2));
        });
    }

    @Test
    void recording_outOfRange_failsTheStart() {
        assertThatThrownBy(() -> RunningApp.start(
                        List.of(TestApi.class), ON, "ratelimit.policies.p=1/s", "ratelimit.recording.share=0"))
                .hasRootCauseInstanceOf(RateLimitConfigurationException.class)
                .rootCause()
                .hasMessageContaining("share must be above 0 and at most 1 but was 0.0");
    }
}
