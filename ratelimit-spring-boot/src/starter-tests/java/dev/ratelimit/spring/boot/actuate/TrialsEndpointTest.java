package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;

/** Trials of other limits, and whom shadow mode would refuse where, by the actuator. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class TrialsEndpointTest extends AppPerTest {

    private static final String SHOW = "management.endpoint.ratelimits.show-keys=always";
    private static final String WRITE = "management.endpoint.ratelimits.access=unrestricted";

    private ActuatorClient app(String... properties) {
        start(
                List.of(TestApi.class),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "p.limit=4/hour",
                        "p.key=header:X-Id",
                        "p.match.paths=/orders/**",
                        "ratelimit.policies[a/b].limit=100/hour"),
                properties);
        return new ActuatorClient(app);
    }

    private void ask(int times, String id) {
        for (int i = 0; i < times; i++) {
            app.get("/orders/1", "X-Id: " + id);
        }
    }

    @Test
    void trial_showsWhomAndHowManyMore_untilItIsEnded(CapturedOutput output) {
        ActuatorClient actuator = app(SHOW, WRITE);

        JsonNode started = actuator.post(
                        "/p/trial", Map.of("limit", "2/hour", "duration", "30m", "reason", "ticket 12"))
                .json();
        ask(5, "a");
        ask(1, "b");

        assertThat(started.get("limits").get(0).asString()).isEqualTo("2/hour (token-bucket)");
        assertThat(started.get("by").asString()).isEqualTo("anonymous");
        JsonNode trial = actuator.get("/p/trial").json();
        assertThat(trial.get("requests").asLong()).isEqualTo(6);
        assertThat(trial.get("refused").asLong()).isEqualTo(3);
        assertThat(trial.get("refusedNow").asLong()).isEqualTo(1);
        assertThat(trial.get("more").asLong()).isEqualTo(2);
        assertThat(trial.get("mostRefused").toString()).isEqualTo("[{\"key\":[\"a\"],\"refused\":2}]");
        assertThat(trial.get("mostRefusedEndpoints").toString())
                .isEqualTo("[{\"endpoint\":\"GET /orders/{id}\",\"refused\":2}]");
        assertThat(actuator.get("/p").json().get("trial")).isEqualTo(trial);
        assertThat(actuator.get("").json().get("policies").get(1).get("trial")).isEqualTo(trial);
        assertThat(output).contains("'anonymous' tries [2/hour (token-bucket)] until");

        app.bean(FakeTicker.class).advance(Duration.ofMinutes(30));
        assertThat(actuator.get("/p/trial").json().get("running").asBoolean()).isFalse();
        assertThat(actuator.delete("/p/trial").json().get("more").asLong()).isEqualTo(2);
        assertThat(actuator.get("/p/trial").status()).isEqualTo(404);
        assertThat(actuator.delete("/p/trial").status()).isEqualTo(404);
        assertThat(actuator.get("/p").json().has("trial")).isFalse();
    }

    @Test
    void trial_ofAPolicyWithASlash_orOfNone() {
        ActuatorClient actuator = app(WRITE);

        assertThat(actuator.post("/a/b/trial", Map.of("limit", "2/hour", "algorithm", "sliding-log"))
                        .json()
                        .get("limits")
                        .get(0)
                        .asString())
                .isEqualTo("2/hour (sliding-log)");
        assertThat(actuator.post("/nobody/trial", Map.of("limit", "2/hour")).status())
                .isEqualTo(404);
        assertThat(actuator.get("/nobody/trial").status()).isEqualTo(404);
        assertThat(actuator.get("/p/trial").json().get("error").asString())
                .isEqualTo("this policy has no trial; POST starts one");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "reason | x | a trial needs a limit; write 50/minute",
                "limit=2/hour,burst | -1 | burst must be a whole number",
                "limit=2/hour,duration | 25h | duration must be more than 0 and at most one day",
                "limit=2/hour,duration | 5 | duration must be a time with a unit",
                "limit=2/hour,algorithm | sliding-lok | unknown algorithm",
                "limit=2/hour,key | a | there is no field 'key'",
                "limit | 2 | ",
            })
    void trial_thatIsWrong_isRefused_andStartsNothing(String fields, String value, String mistake) {
        ActuatorClient actuator = app(WRITE);
        Map<String, Object> body = new HashMap<>();
        for (String field : fields.split(",", -1)) {
            String[] known = field.split("=", 2);
            body.put(known[0], known.length > 1 ? known[1] : value);
        }

        ActuatorClient.Answer answer = actuator.post("/p/trial", body);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString()).contains(mistake == null ? "2" : mistake);
        assertThat(actuator.get("/p/trial").status()).isEqualTo(404);
    }

    @Test
    void trial_ofAReadOnlyEndpoint_isNotPossible_andKeysAreHashed() {
        ActuatorClient actuator = app();

        assertThat(actuator.post("/p/trial", Map.of("limit", "2/hour")).status())
                .isEqualTo(405);
        assertThat(actuator.delete("/p/trial").status()).isEqualTo(405);
        assertThat(actuator.get("/p/trial?key=a").status()).isEqualTo(400);
    }

    @Test
    void keysOfATrial_areHashed_unlessTheyAreShown() {
        ActuatorClient actuator = app(WRITE);
        actuator.post("/p/trial", Map.of("limit", "1/hour"));

        ask(3, "secret");

        assertThat(actuator.get("/p").body()).contains("\"more\":2").doesNotContain("secret");
        assertThat(actuator.delete("/p/trial").body()).doesNotContain("secret");
        assertThat(actuator.delete("/p/trial?key=a").status()).isEqualTo(400);
    }

    @Test
    void shadow_tellsWhomAndWhere_andHowManyMore() {
        ActuatorClient actuator = app(
                SHOW,
                "ratelimit.policies.s.limit=2/hour",
                "ratelimit.policies.s.key=header:X-Id",
                "ratelimit.policies.s.mode=shadow");

        ask(6, "a");

        JsonNode shadow = actuator.get("/s").json();
        assertThat(shadow.get("counts").get("shadow-refused").asLong()).isEqualTo(2);
        assertThat(shadow.get("mostRefused").toString()).isEqualTo("[{\"key\":[\"a\"],\"refused\":2}]");
        assertThat(shadow.get("mostRefusedEndpoints").toString())
                .isEqualTo("[{\"endpoint\":\"GET /orders/{id}\",\"refused\":2}]");
        assertThat(actuator.get("/p").json().get("mostRefusedEndpoints").toString())
                .isEqualTo("[{\"endpoint\":\"GET /orders/{id}\",\"refused\":2}]");
    }
}
