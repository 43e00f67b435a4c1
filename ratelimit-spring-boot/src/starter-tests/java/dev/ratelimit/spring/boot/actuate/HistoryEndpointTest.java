package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The history of changes, changes with an end, and the policies in force as YAML, by the actuator. */
@Tag("servers")
class HistoryEndpointTest extends AppPerTest {

    private static final String SHOW = "management.endpoint.ratelimits.show-keys=always";

    private ActuatorClient app(String... properties) {
        start(
                List.of(TestApi.class),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "management.endpoint.ratelimits.access=unrestricted",
                        "p.limit=2/hour",
                        "p.key=header:X-Id",
                        "p.overrides.carol=unlimited",
                        "ratelimit.policies[a/b].limit=100/hour"),
                properties);
        return new ActuatorClient(app);
    }

    private static String text(JsonNode node, String field) {
        return node.get(field).asString();
    }

    @Test
    void change_forAnHour_isInTheHistory_andItsEndAsWell() {
        ActuatorClient actuator = app();
        assertThat(actuator.post("/a/b", Map.of("limit", "50/hour", "duration", "1h", "reason", "release"))
                        .status())
                .isEqualTo(200);

        JsonNode answer = actuator.get("/a/b/history").json();
        JsonNode change = answer.get("history").get(0);
        assertThat(text(answer, "holds")).isEqualTo("on this instance only, until it restarts");
        assertThat(text(change, "action")).isEqualTo("change");
        assertThat(text(change, "policy")).isEqualTo("a/b");
        assertThat(text(change, "from")).startsWith("100/hour");
        assertThat(text(change, "to")).startsWith("50/hour");
        assertThat(text(change, "reason")).isEqualTo("release");
        assertThat(text(change, "by")).isEqualTo("anonymous");
        assertThat(Duration.between(Instant.parse(text(change, "time")), Instant.parse(text(change, "until"))))
                .isEqualTo(Duration.ofHours(1));
        JsonNode detail = actuator.get("/a/b").json().get("changes").get(0);
        assertThat(text(detail, "property")).isEqualTo("limit");
        assertThat(text(detail, "configured")).isEqualTo("100/hour");

        app.ticker().advance(Duration.ofHours(1));

        JsonNode end = actuator.get("/history?limit=1").json().get("history").get(0);
        assertThat(text(end, "action")).isEqualTo("expiry");
        assertThat(end.has("by")).isFalse();
        assertThat(actuator.get("/a/b").json().has("changed")).isFalse();
        assertThat(actuator.get("/p/history").json().get("history").isEmpty()).isTrue();
        assertThat(app.bean(RateLimitPolicies.class).history(10)).hasSize(2);
    }

    @Test
    void keys_areHashesInTheHistory_unlessTheyAreShown() {
        ActuatorClient actuator = app();
        actuator.post("/p/overrides", Map.of("key", "mallory", "limit", "blocked"));

        String answer = actuator.get("/history").body();

        assertThat(answer).contains("\"key\":\"#").doesNotContain("mallory");
    }

    @Test
    void yaml_isThatOfPoliciesThatDiffer_orOfAll() {
        ActuatorClient actuator = app(SHOW);
        actuator.post("/a/b", Map.of("limit", "50/hour", "reason", "release"));

        ActuatorClient.Answer yaml = actuator.get("/yaml");

        assertThat(yaml.status()).isEqualTo(200);
        assertThat(yaml.type()).isEqualToIgnoringCase("application/yaml;charset=utf-8");
        assertThat(yaml.body())
                .contains("ratelimit:\n  policies:\n    '[a/b]':\n      limit: [50/hour]\n")
                .contains(
                        "# a/b: {property=limit, to=50/hour, by=anonymous, since=",
                        "reason=release, configured=100/hour}")
                .doesNotContain("carol");
        assertThat(actuator.get("/yaml?all=true").body()).contains("carol: unlimited");
    }

    @Test
    void yaml_hasNoKeys_unlessTheyAreShown() {
        assertThat(app().get("/yaml?all=true").body())
                .contains("# p: overrides are hidden")
                .doesNotContain("carol");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            /history?limit=0     | 400 | limit must be from 1 to 1000 but was 0
            /history?limit=1001  | 400 | limit must be from 1 to 1000 but was 1001
            /history?limit=x     | 400 | limit must be a number of entries, such as 100, but was 'x'
            /history?policy=p    | 400 | the path names the policy
            /p/history?key=a     | 400 | there is no parameter 'key'; write limit
            /q/history           | 404 | no policy 'q'
            /yaml?all=yes        | 400 | all must be true or false but was 'yes'
            /yaml?policy=p       | 400 | the path names the policy
            /yaml?key=p          | 400 | there is no parameter 'key'; write all
            """)
    void question_thatIsWrong_isRefused_withTheReason(String path, int status, String message) {
        ActuatorClient.Answer answer = shared().get(path);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.json().get("error").asString()).contains(message);
    }

    private ActuatorClient shared() {
        start(
                List.of(TestApi.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted",
                "p.limit=2/hour");
        return new ActuatorClient(app);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            limit=5/hour&duration=5                                    | duration must be a time with a unit
            limit=5/hour&duration=400d                                 | at most 366 days
            limit=5/hour&until=2001-01-01T00:00Z                       | to end a change, restore the policy
            limit=5/hour&until=2001-01-01T00:00Z&duration=1h           | write only one of the two
            reason=why                                                 | nothing to change
            """)
    void change_withAWrongEnd_isRefused_withTheReason(String fields, String message) {
        Map<String, Object> body = new HashMap<>();
        Stream.of(fields.split("&", -1))
                .map(field -> field.split("=", 2))
                .forEach(field -> body.put(field[0], field[1]));

        ActuatorClient.Answer answer = shared().post("/p", body);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString()).contains(message);
    }

    @Test
    void hostileLengths_areRefused() {
        ActuatorClient actuator = app();

        assertThat(actuator.post("/p", Map.of("limit", "5/hour", "reason", "x".repeat(201)))
                        .body())
                .contains("reason must have at most 200 characters but has 201");
        assertThat(actuator.post("/p", Map.of("limit", "5/hour;".repeat(100))).body())
                .contains("limit must have at most 200 characters but has 700");
        assertThat(actuator.get("/history").json().get("history").isEmpty()).isTrue();
    }
}
