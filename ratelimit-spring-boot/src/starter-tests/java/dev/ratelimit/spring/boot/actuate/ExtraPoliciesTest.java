package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimitPolicies;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.TestApi;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Policies that are off until an operator puts them in force on some paths. */
@Tag("servers")
class ExtraPoliciesTest extends AppPerTest {

    private static final String EXTRA = "extra-by-address";

    private static final Map<String, Object> FLOOD =
            Map.of("paths", "/orders/*", "limit", "2/minute", "duration", "2h", "reason", "flood");

    private ActuatorClient app(String... properties) {
        start(
                List.of(TestApi.class),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "management.endpoint.ratelimits.access=unrestricted",
                        "ratelimit.trusted-proxies=127.0.0.1",
                        "p.limit=1000/hour",
                        "ratelimit.policies.ready.limit=1/minute",
                        "ratelimit.policies.ready.match.paths=/orders/**",
                        "ratelimit.policies.ready.match.except-paths=/orders/health",
                        "ratelimit.policies.ready.mode=off",
                        "ratelimit.policies.named.limit=1/minute",
                        "ratelimit.policies.named.match.annotated=true",
                        "ratelimit.policies.named.mode=off"),
                properties);
        return new ActuatorClient(app);
    }

    /** How many of four requests of a client are admitted. */
    private long admitted(String path, String address) {
        return Stream.generate(
                        () -> app.get(path, "X-Forwarded-For: " + address).status())
                .limit(4)
                .filter(status -> status == 200)
                .count();
    }

    private @Nullable Gauge changed(String policy) {
        return app.bean(MeterRegistry.class)
                .find("ratelimit.changed")
                .tag("policy", policy)
                .gauge();
    }

    private static List<String> names(ActuatorClient actuator) {
        return actuator.get("").json().get("policies").findValuesAsString("name");
    }

    @Test
    void policyByAddress_limitsEachAddressOnItsPath_untilItsEnd_thenItIsGone() {
        ActuatorClient actuator = app();
        assertThat(names(actuator)).containsExactly("named", "p", "ready");
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(4);

        JsonNode added = actuator.post("/" + EXTRA, FLOOD).json();

        assertThat(added.get("applies").asString()).isEqualTo("on /orders/*");
        assertThat(added.get("changed").asString()).isEqualTo("limit 2/minute, paths /orders/*");
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(2);
        assertThat(admitted("/orders/2", "203.0.113.2")).isEqualTo(2);
        assertThat(admitted("/any", "203.0.113.1")).isEqualTo(4);
        assertThat(names(actuator)).containsExactly(EXTRA, "named", "p", "ready");
        assertThat(app.bean(RateLimitPolicies.class).names()).contains(EXTRA);
        assertThat(changed(EXTRA)).isNotNull().extracting(Gauge::value).isEqualTo(1.0);

        app.ticker().advance(Duration.ofHours(2));

        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(4);
        assertThat(names(actuator)).containsExactly("named", "p", "ready");
        assertThat(changed(EXTRA)).isNull();
        assertThat(actuator.get("/" + EXTRA).json().get("mode").asString()).isEqualTo("off");
    }

    @Test
    void addresses_ofOneIpv6Network_areOneClient() {
        app().post("/" + EXTRA, FLOOD);

        assertThat(admitted("/orders/1", "2001:db8::1") + admitted("/orders/1", "2001:db8::2"))
                .isEqualTo(2);
        assertThat(admitted("/orders/1", "2001:db8:0:1::1")).isEqualTo(2);
    }

    @Test
    void policy_isInTheHistory_theYaml_andExplanations_andIsRemovedAsAChangeIs() {
        ActuatorClient actuator = app();
        actuator.post("/" + EXTRA, FLOOD);

        assertThat(actuator.get("/explain?path=/orders/1&address=203.0.113.1")
                        .json()
                        .get("policies")
                        .findValuesAsString("policy"))
                .contains(EXTRA);
        assertThat(actuator.get("/yaml").body())
                .contains("# extra-by-address: {property=paths, to=/orders/*, by=anonymous, since=", "reason=flood")
                .contains(
                        "    extra-by-address:\n      limit: [2/minute]\n      key: [ip]\n      match:\n        paths: [")
                .doesNotContain("mode:");

        JsonNode removed = actuator.post("/" + EXTRA, Map.of("restore", true)).json();

        assertThat(removed.get("mode").asString()).isEqualTo("off");
        assertThat(removed.has("remark")).isFalse();
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(4);
        List<JsonNode> history = actuator.get("/" + EXTRA + "/history")
                .json()
                .get("history")
                .valueStream()
                .toList();
        assertThat(history).extracting(entry -> entry.get("action").asString()).containsExactly("restore", "change");
        assertThat(history.get(1).get("from").asString()).isEqualTo("60/minute (token-bucket), mode off");
        assertThat(history.get(1).get("to").asString())
                .isEqualTo("2/minute (token-bucket), mode enforce, on /orders/*");
        assertThat(history.get(1).get("reason").asString()).isEqualTo("flood");
        assertThat(actuator.get("/yaml").body()).contains("as configured").doesNotContain(EXTRA);
    }

    @Test
    void policies_thatNeedNoConfiguration_areListed_andOneMayBeInForceSeveralTimes() {
        ActuatorClient actuator = app();
        actuator.post("/" + EXTRA, FLOOD);

        actuator.post("/" + EXTRA + "-2", Map.of("paths", "/**", "limit", "3/minute"));
        actuator.post("/extra-shared", Map.of("paths", "/any", "limit", "1/minute", "mode", "shadow"));

        assertThat(actuator.get("").json().get("extra").findValuesAsString("name"))
                .containsExactly(EXTRA, "extra-by-user", "extra-shared");
        assertThat(names(actuator)).containsExactly(EXTRA, EXTRA + "-2", "extra-shared", "named", "p", "ready");
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(2);
        assertThat(admitted("/any", "203.0.113.1")).isEqualTo(1);
        assertThat(admitted("/any", "203.0.113.2")).isEqualTo(3);
    }

    @Test
    void policyThatIsOff_isInForceOnThePathsThatItIsGiven_withItsOwnLimit() {
        ActuatorClient actuator = app();

        JsonNode tried = actuator.post("/ready", Map.of("paths", "/orders/1, /orders/2", "dryRun", true))
                .json();
        assertThat(tried.get("mode").asString()).isEqualTo("enforce");
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(4);
        actuator.post(
                "/ready",
                Map.of(
                        "paths",
                        "/orders/1, /orders/2",
                        "version",
                        tried.get("version").asString()));

        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(1);
        assertThat(admitted("/orders/3", "203.0.113.1")).isEqualTo(4);
        assertThat(actuator.get("/ready").json().get("applies").asString())
                .isEqualTo("on /orders/1, /orders/2 except /orders/health");
        actuator.post("/ready", Map.of("restore", true));
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(4);
    }

    @Test
    void modeAndPaths_endTogether_whicheverIsChangedLater() {
        ActuatorClient actuator = app();
        actuator.post("/ready", Map.of("paths", "/orders/1", "mode", "shadow", "duration", "1h"));

        JsonNode enforced = actuator.post("/ready", Map.of("mode", "enforce", "duration", "3h"))
                .json();
        app.ticker().advance(Duration.ofHours(2));

        assertThat(enforced.get("applies").asString()).startsWith("on /orders/1 ");
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(1);
        assertThat(admitted("/orders/3", "203.0.113.1")).isEqualTo(4);

        actuator.post("/ready", Map.of("paths", "/orders/3", "duration", "3h"));
        app.ticker().advance(Duration.ofHours(2));
        assertThat(admitted("/orders/1", "203.0.113.1")).isEqualTo(4);
        assertThat(admitted("/orders/3", "203.0.113.1")).isEqualTo(1);
        app.ticker().advance(Duration.ofHours(1));
        assertThat(admitted("/orders/3", "203.0.113.1")).isEqualTo(4);
    }

    @Test
    void application_putsAPolicyInForce_andTakesItAway() {
        app();
        RateLimitPolicies policies = app.bean(RateLimitPolicies.class);

        policies.change(
                EXTRA,
                RateLimitChange.toLimit("3/minute").onPaths("/orders/*", "/any").lasting(Duration.ofHours(1)));

        assertThat(policies.mode(EXTRA)).isEqualTo(Mode.ENFORCE);
        assertThat(admitted("/any", "203.0.113.1")).isEqualTo(3);
        policies.restore(EXTRA);
        assertThat(policies.names()).doesNotContain(EXTRA);
        assertThat(admitted("/any", "203.0.113.1")).isEqualTo(4);
    }

    @Test
    void policyByUser_limitsEachSignedInUser_afterSpringSecurity() {
        start(List.of(TestApi.class, RunningApp.WithSecurity.class, RunningApp.Alice.class), "p.limit=1000/hour");

        app.bean(RateLimitPolicies.class)
                .change("extra-by-user", RateLimitChange.toLimit("2/minute").onPaths("/orders/*"));

        assertThat(Stream.generate(() -> app.getAs("alice", "/orders/1").status())
                        .limit(4))
                .containsExactly(200, 200, 429, 429);
        assertThat(app.getAs("alice", "/any").status()).isEqualTo(200);
    }

    @Test
    void path_thatNobodyAnswers_isRemarkedOn() {
        ActuatorClient actuator = app();

        assertThat(actuator.post("/" + EXTRA, Map.of("paths", "/order/*", "dryRun", true))
                        .json()
                        .get("remark")
                        .asString())
                .contains("has the path /order/*, so the policy limits only requests that nothing answers there")
                .contains("/orders/*");
        assertThat(actuator.post("/" + EXTRA, FLOOD).json().has("remark")).isFalse();
    }

    @Test
    void policyOfTheConfiguration_hasPrecedence_overOneOfTheSameName() {
        ActuatorClient actuator = app("ratelimit.policies." + EXTRA + ".limit=3/minute");

        ActuatorClient.Answer answer = actuator.post("/" + EXTRA, FLOOD);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().get("error").asString())
                .isEqualTo(
                        "paths are given only to a policy with mode: off in the configuration, and to extra-by-address,"
                                + " extra-by-user, extra-shared; those of 'extra-by-address' are fixed while the application runs");
        assertThat(actuator.get("").json().get("extra").findValuesAsString("name"))
                .containsExactly("extra-by-user", "extra-shared");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            /extra-by-adress     | paths=/orders/*                | 404 | there is no policy 'extra-by-adress' (did you mean 'extra-by-address'?)
            /extra-by-address-10 | paths=/orders/*                | 404 | there is no policy 'extra-by-address-10'
            /p                   | paths=/orders/*                | 400 | those of 'p' are fixed while the application runs
            /ready               | paths=/any                     | 400 | the configuration lets the policy be in force only within /orders/**
            /ready               | paths=/**                      | 400 | the configuration lets the policy be in force only within /orders/**
            /ready               | paths=/orders/health           | 400 | the configuration excludes it by except-paths: /orders/health
            /named               | paths=/orders/*                | 400 | the policy applies where annotations name it
            /extra-by-address    | paths=/orders/*,               | 400 | paths must be patterns, separated by commas, such as /login, or /** for all
            /extra-by-address    | paths=orders                   | 400 | orders
            /extra-by-address    | paths=/orders/*&plan=pro&limit=1/hour | 400 | paths are those of the whole policy
            /extra-by-address    | paths=/orders/*&limit=many     | 400 | many
            /extra-by-address    | paths=/orders/*&duration=400d  | 400 | at most 366 days
            """)
    void change_thatCannotBe_isRefused_withWhatToDo(String policy, String fields, int status, String message) {
        ActuatorClient actuator = app();
        Map<String, Object> body = new HashMap<>();
        Stream.of(fields.split("&", -1))
                .map(field -> field.split("=", 2))
                .forEach(field -> body.put(field[0], field[1]));

        ActuatorClient.Answer answer = actuator.post(policy, body);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.json().get("error").asString()).contains(message);
        assertThat(names(actuator)).containsExactly("named", "p", "ready");
    }

    @Test
    void paths_thatAreTooLong_areRefused() {
        assertThat(app().post("/" + EXTRA, Map.of("paths", "/" + "x".repeat(200)))
                        .body())
                .contains("paths must have at most 200 characters but has 201");
    }
}
