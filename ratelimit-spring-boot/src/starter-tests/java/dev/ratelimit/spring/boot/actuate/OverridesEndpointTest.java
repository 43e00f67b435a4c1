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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.AuditEventRepository;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;

/** Overrides of single keys, by the actuator. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class OverridesEndpointTest extends AppPerTest {

    private static final String SHOW = "management.endpoint.ratelimits.show-keys=always";

    @Configuration(proxyBeanMethods = false)
    static class Audit {

        @Bean
        AuditEventRepository audit() {
            return new InMemoryAuditEventRepository();
        }
    }

    private ActuatorClient app(String... properties) {
        start(
                List.of(TestApi.class, Audit.class),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "management.endpoint.ratelimits.access=unrestricted",
                        "p.limit=2/hour",
                        "p.key=header:X-Id",
                        "p.match.paths=/orders/**",
                        "ratelimit.policies[a/b].limit=100/hour",
                        "ratelimit.policies[a/b].key=ip"),
                properties);
        return new ActuatorClient(app);
    }

    private int status(String id) {
        return app.get("/orders/1", "X-Id: " + id).status();
    }

    @Test
    void block_forAnHour_appliesAtOnce_isListedWithWhoAndWhy_andEnds(CapturedOutput output) {
        ActuatorClient actuator = app(SHOW);

        JsonNode set = actuator.post(
                        "/p/overrides",
                        Map.of("key", "mallory", "limit", "blocked", "duration", "1h", "reason", "flood"))
                .json();

        assertThat(set.get("holds").asString()).isEqualTo("on this instance only, until it restarts");
        JsonNode listed = actuator.get("/p").json().get("overrides").get(0);
        assertThat(listed.get("key").asString()).isEqualTo("mallory");
        assertThat(listed.get("limit").asString()).isEqualTo("blocked");
        assertThat(listed.get("reason").asString()).isEqualTo("flood");
        assertThat(listed.get("by").asString()).isEqualTo("anonymous");
        assertThat(Duration.between(
                        Instant.parse(listed.get("since").asString()),
                        Instant.parse(listed.get("until").asString())))
                .isEqualTo(Duration.ofHours(1));
        assertThat(status("mallory")).isEqualTo(429);
        assertThat(status("alice")).isEqualTo(200);
        assertThat(output)
                .contains("was overridden by 'anonymous': blocked, until")
                .doesNotContain("mallory");
        List<AuditEvent> events = app.bean(AuditEventRepository.class).find(null, null, "RATE_LIMIT_CHANGED");
        assertThat(events).hasSize(1);
        assertThat(events.get(0).getData())
                .containsEntry("policy", "p")
                .containsEntry("override", "blocked")
                .containsEntry("reason", "flood");
        JsonNode met = actuator.get("/explain?path=/orders/1&header=X-Id:mallory")
                .json()
                .get("policies")
                .get(0);
        assertThat(met.get("outcome").asString()).isEqualTo("refused");
        assertThat(met.get("liveOverride")).isEqualTo(listed);
        assertThat(actuator.get("/p?key=mallory").json().get("liveOverride")).isEqualTo(listed);
        app.ticker().advance(Duration.ofHours(1));
        assertThat(status("mallory")).isEqualTo(200);
        assertThat(actuator.get("/p/overrides").json().get("overrides").isEmpty())
                .isTrue();
    }

    @Test
    void range_ofAPolicyWithASlash_isBlocked_untilItIsRemoved() {
        ActuatorClient actuator = app();
        assertThat(app.get("/any").status()).isEqualTo(200);

        JsonNode set = actuator.post("/a/b/overrides", Map.of("key", "127.0.0.0/8", "limit", "blocked"))
                .json();

        assertThat(set.get("key").asString()).startsWith("#");
        assertThat(set.has("until")).isFalse();
        assertThat(app.get("/any").status()).isEqualTo(429);
        assertThat(app.bean(RateLimitPolicies.class).overrides("a/b")).hasSize(1);
        assertThat(actuator.delete("/a/b/overrides?key=127.0.0.0/8").status()).isEqualTo(200);
        assertThat(app.get("/any").status()).isEqualTo(200);
        assertThat(actuator.delete("/a/b/overrides?key=127.0.0.0/8").status()).isEqualTo(404);
    }

    @Test
    void raise_untilAMoment_changesTheStateOfTheKey() {
        ActuatorClient actuator = app();
        status("a");
        String until = Instant.EPOCH
                .plusNanos(app.ticker().epochNanos())
                .plusSeconds(60)
                .toString();

        assertThat(actuator.post("/p/overrides", Map.of("key", "a", "limit", "20/hour", "until", until))
                        .status())
                .isEqualTo(200);

        assertThat(actuator.get("/p?key=a")
                        .json()
                        .get("limits")
                        .get(0)
                        .get("remaining")
                        .asLong())
                .isEqualTo(10);
        app.ticker().advance(Duration.ofMinutes(1));
        assertThat(actuator.get("/p?key=a")
                        .json()
                        .get("limits")
                        .get(0)
                        .get("remaining")
                        .asLong())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            q | key=a&limit=blocked                          | 404 | no policy 'q'
            p | limit=blocked                                | 400 | an override needs a key and a limit
            p | key=a                                        | 400 | an override needs a key and a limit
            p | key=a&limit=never                            | 400 | 'never' is not a limit
            p | key=a&limit=blocked&burst=7                  | 400 | there is no field 'burst'; write duration, key, limit, reason, until
            p | key=a&limit=blocked&duration=5               | 400 | duration must be a time with a unit, such as 2h, 30m or PT90S, but was '5'
            p | key=a&limit=blocked&duration=400d            | 400 | at most 366 days
            p | key=a&limit=blocked&until=tomorrow           | 400 | until must be a moment with its zone
            p | key=a&limit=blocked&until=2001-01-01T00:00Z  | 400 | until must be after now
            p | key=a&limit=blocked&until=2001-01-01T00:00Z&duration=1h | 400 | write only one of the two
            a/b | key=here&limit=blocked                     | 400 | 'here' is not an address
            """)
    void override_thatIsWrong_isRefused_withTheReason(String policy, String fields, int status, String message) {
        Map<String, Object> body = new HashMap<>();
        for (String field : fields.split("&", -1)) {
            int equals = field.indexOf('=');
            body.put(field.substring(0, equals), field.substring(equals + 1));
        }
        start(
                List.of(TestApi.class),
                "management.endpoints.web.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=unrestricted",
                "p.limit=2/hour",
                "p.key=header:X-Id",
                "ratelimit.policies[a/b].limit=100/hour",
                "ratelimit.policies[a/b].key=ip");

        ActuatorClient.Answer answer = new ActuatorClient(app).post("/" + policy + "/overrides", body);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.json().get("error").asString()).contains(message);
    }

    @Test
    void fieldsOfAnOverride_areNoneOfAChange_norInTheQuery() {
        ActuatorClient actuator = app();

        assertThat(actuator.post("/p", Map.of("limit", "5/hour", "keys", "a")).body())
                .contains(
                        "there is no field 'keys'; write burst, dryRun, duration, limit, maxWait, mode, paths, penalty,"
                                + " plan, reason, restore, until, version");
        assertThat(actuator.post("/p/overrides?key=a", Map.of("limit", "blocked"))
                        .status())
                .isEqualTo(400);
        assertThat(actuator.delete("/p/overrides").body()).contains("write ?key=alice");
        assertThat(actuator.get("/p/overrides?key=a").status()).isEqualTo(400);
    }
}
