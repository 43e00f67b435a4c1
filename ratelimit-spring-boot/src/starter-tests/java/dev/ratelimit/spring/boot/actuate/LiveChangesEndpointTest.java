package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.TestApi;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;

/** Changes of penalties, waits and plans, and what a change would do, by the actuator. */
@Tag("servers")
class LiveChangesEndpointTest extends AppPerTest {

    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        PlanResolver plans() {
            return request -> request.header("X-Plan");
        }
    }

    private ActuatorClient app() {
        start(
                List.of(TestApi.class, Plans.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted",
                "p.limit=5/hour",
                "p.key=header:X-Id",
                "p.match.paths=/orders/**",
                "p.plans.pro=10/hour",
                "ratelimit.policies.w.limit=100/hour",
                "ratelimit.policies.w.on-exceeded.action=wait");
        return new ActuatorClient(app);
    }

    private static Map<String, Object> fields(String text) {
        Map<String, Object> body = new HashMap<>();
        for (String field : text.split("&", -1)) {
            int equals = field.indexOf('=');
            body.put(field.substring(0, equals), field.substring(equals + 1));
        }
        return body;
    }

    private int admitted(String... headers) {
        int admitted = 0;
        while (admitted < 99 && app.get("/orders/1", headers).status() == 200) {
            admitted++;
        }
        return admitted;
    }

    @Test
    void plan_penalty_andMaxWait_areChanged_andShown_untilTheyAreRestored() {
        ActuatorClient actuator = app();

        JsonNode changed =
                actuator.post("/p", fields("plan=pro&limit=20/hour&burst=3")).json();

        assertThat(changed.get("plans").get("pro").asString()).isEqualTo("20/hour");
        assertThat(changed.get("planBursts").get("pro").asInt()).isEqualTo(3);
        assertThat(changed.get("changed").asString()).isEqualTo("plan pro 20/hour burst 3");
        assertThat(admitted("X-Id: a", "X-Plan: pro")).isEqualTo(3);
        assertThat(admitted("X-Id: b")).isEqualTo(5);
        assertThat(actuator.post("/p", fields("penalty=10m&plan=default"))
                        .json()
                        .get("penalty")
                        .asInt())
                .isEqualTo(600);
        assertThat(actuator.post("/w", fields("maxWait=30s"))
                        .json()
                        .get("maxWait")
                        .asInt())
                .isEqualTo(30);
        JsonNode restored = actuator.post("/p", fields("restore=true")).json();
        assertThat(restored.has("changed")).isFalse();
        assertThat(restored.has("penalty")).isFalse();
        assertThat(restored.get("plans").get("pro").asString()).isEqualTo("10/hour");
    }

    @Test
    void dryRun_tellsWhatAChangeWouldDo_andChangesNothing() {
        ActuatorClient actuator = app();
        JsonNode before = actuator.get("/p").json();

        ActuatorClient.Answer answer = actuator.post(
                "/p",
                fields("limit=2/hour&dryRun=true&version="
                        + before.get("version").asString()));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json().get("dryRun").asBoolean()).isTrue();
        assertThat(answer.json().get("limit").asString()).isEqualTo("2/hour");
        assertThat(answer.json().get("remark").asString())
                .isEqualTo(
                        "a key with a full budget is admitted 2 at once, before 5; what keys have used stays used, in"
                                + " proportion");
        assertThat(answer.json().get("version")).isEqualTo(before.get("version"));
        assertThat(actuator.get("/p").json().get("limit").asString()).isEqualTo("5/hour");
        assertThat(actuator.post("/p", fields("limit=2/hour&dryRun=true&version=0"))
                        .status())
                .isEqualTo(409);
        assertThat(actuator.post("/p", fields("limit=never&dryRun=true")).status())
                .isEqualTo(400);
        assertThat(actuator.post("/q", fields("limit=2/hour&dryRun=true")).status())
                .isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            key=ip                         | key is fixed while the application runs; change the configuration, and restart the application, or refresh it with Spring Cloud. To change the limits of a single key, POST it to {policy}/overrides
            algorithm=fixed-window         | algorithm is fixed while the application runs
            queue=7                        | queue is fixed while the application runs; change the configuration, and restart the application
            concurrency=7&limit=1/hour     | concurrency beside a limit is changed as a policy of its own: POST its limit to {policy}/concurrency
            plans=7                        | plans are changed one by one; write plan: pro, and its limit
            plan=pro                       | nothing to change of the plan; write its limit, its burst, or both
            plan=pro&limit=1/hour&mode=off | mode, penalty, maxWait and paths are those of the whole policy
            plan=free&limit=1/hour         | there is no such plan; the plans are pro
            penalty=5                      | penalty must be a time with a unit, such as 2h, 30m or PT90S, but was '5'
            maxWait=5s                     | max-wait belongs to action: wait, but the action is reject
            dryRun=yes&limit=1/hour        | dryRun must be true or false but was 'yes'
            dryRun=true                    | nothing to change; write limit, burst, mode, penalty, maxWait, paths or restore
            """)
    void change_thatCannotBe_isRefused_withWhatToDo(String fields, String message) {
        ActuatorClient actuator = app();

        ActuatorClient.Answer answer = actuator.post("/p", fields(fields));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString()).contains(message);
    }

    @Test
    void field_thatIsNull_isRefused() {
        ActuatorClient actuator = app();
        Map<String, Object> withoutAnEnd = new HashMap<>(Map.of("limit", "5/minute"));
        withoutAnEnd.put("duration", null);

        ActuatorClient.Answer answer = actuator.post("/p", withoutAnEnd);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString())
                .isEqualTo("duration must not be null; write a value, or leave it out");
    }
}
