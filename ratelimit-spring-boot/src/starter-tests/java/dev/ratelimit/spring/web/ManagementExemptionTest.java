package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.Chains;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import dev.ratelimit.spring.Server;
import dev.ratelimit.spring.TestApi;
import dev.ratelimit.spring.boot.actuate.ActuatorClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Limits fail neither the probes of their own application nor lock its operator out. */
@Tag("servers")
class ManagementExemptionTest extends AppPerTest {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=health,metrics,ratelimits";

    /** An application whose only budget is used up. */
    private RunningApp exhausted(Server server, String path, String... more) {
        String[] properties = Stream.concat(Stream.of("p.limit=1/hour", EXPOSED), Stream.of(more))
                .toArray(String[]::new);
        start(server, List.of(TestApi.class), properties);
        assertThat(app.get(path).status()).isEqualTo(200);
        assertThat(app.get(path).status()).isEqualTo(429);
        return app;
    }

    private RunningApp exhausted(String path, String... more) {
        return exhausted(Server.DEFAULT, path, more);
    }

    @Test
    void managementEndpoints_whenTheBudgetIsUsedUp_answer() {
        exhausted("/any");

        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
        assertThat(app.get("/actuator/health").header("RateLimit")).isNull();
        assertThat(app.get("/actuator").status()).isEqualTo(200);
        assertThat(app.get("/actuator/metrics/ratelimit.requests").status()).isEqualTo(200);
        assertThat(app.send("HEAD /actuator/health HTTP/1.1").status()).isEqualTo(200);
        assertThat(app.counted("p", "exempt")).isZero();
        app.awaitCounted("p", "admitted", 1);
    }

    @ParameterizedTest
    @CsvSource({
        "/any, management.endpoints.web.base-path=/ops, /ops/health",
        "/any, management.endpoints.web.base-path=/, /health",
        "/any, management.endpoints.web.path-mapping.health=alive/now, /actuator/alive/now",
        "/any, management.endpoint.health.probes.add-additional-paths=true, /livez",
        "/shop/any, server.servlet.context-path=/shop; spring.webflux.base-path=/shop, /shop/actuator/health",
        "/mvc/any, spring.mvc.servlet.path=/mvc; spring.webflux.base-path=/mvc, /mvc/actuator/health"
    })
    void managementEndpoints_whereverTheyAre_areExempt(String path, String properties, String health) {
        exhausted(
                path,
                Stream.concat(
                                Stream.of(properties.split("; ")),
                                Stream.of("management.endpoint.health.probes.enabled=true"))
                        .toArray(String[]::new));

        assertThat(app.get(health).status()).isEqualTo(200);
        assertThat(app.get(path).status()).isEqualTo(429);
    }

    @Test
    void anotherPort_leavesNothingExemptOnTheFirst() {
        exhausted(
                "/any",
                "management.server.port=0",
                "management.server.address=127.0.0.1",
                "management.server.base-path=/ops",
                "management.endpoint.health.probes.enabled=true",
                "management.endpoint.health.probes.add-additional-paths=true");

        assertThat(app.managementClient().get("/ops/actuator/health").status()).isEqualTo(200);
        assertThat(app.get("/actuator/health").status()).isEqualTo(429);
        assertThat(app.get("/ops/actuator/health").status()).isEqualTo(429);
        assertThat(app.get("/livez").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/actuator/**", "/actuator/health", "/ACTUATOR/{what}", "/**/health", "/act*/**"})
    void policyThatNamesThem_chargesThem(String pattern) {
        exhausted(
                "/any",
                "ratelimit.policies.q.limit=2/hour",
                "ratelimit.policies.q.key=ip",
                "ratelimit.policies.q.match.paths=" + pattern);

        assertThat(app.get("/actuator/health").header("RateLimit")).startsWith("\"q\";r=1;");
        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
        RawResponse refused = app.get("/actuator/health");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).contains("\"violated-policies\":[\"q\"]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/**", "/{*all}", "/*/**", "/{a}/{b}", "/any"})
    void policyForPathsInGeneral_doesNotNameThem(String pattern) {
        start(List.of(TestApi.class), "p.limit=1/hour", EXPOSED, "p.match.paths=" + pattern);

        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
    }

    @Test
    void exemptionSwitchedOff_limitsThemAsAnyOther() {
        exhausted("/any", "ratelimit.exempt.management=false");

        assertThat(app.get("/actuator/health").status()).isEqualTo(429);
    }

    /** A request that is not refused has reached the actuator, so its notation bought nothing else. */
    @ParameterizedTest
    @MethodSource("dev.ratelimit.spring.RunningApp#servers")
    void pathsThatLookLikeThem_exemptNothingElse(Server server) {
        exhausted(
                server,
                "/any",
                "spring.mvc.hiddenmethod.filter.enabled=true",
                "spring.webflux.hiddenmethod.filter.enabled=true",
                "management.endpoint.health.group.a.include=*");
        int reached = app.bean(TestApi.class).reached();
        List<String> passed = new ArrayList<>();
        for (String health : List.of("/actuator/health", "/actuator", "/actuator/metrics", "/actuator/health/a")) {
            for (String path : List.of(
                    health + "/../../any",
                    health + "/../../../any",
                    health + "/..;/..;/any",
                    health + ";/../../any",
                    health + "/%2e%2e/%2e%2e/any",
                    health + "/..%2f..%2fany",
                    health + "/.;a=1/..;/../any",
                    "/any;" + health,
                    "/any;x=" + health,
                    "/any?x=" + health,
                    "/any#" + health,
                    "/any/.." + health + "/../../any",
                    "//any" + health,
                    "/any" + health,
                    health + "x",
                    health + "%20",
                    health + "%00",
                    health.toUpperCase(Locale.ROOT),
                    health.replace("actuator", "actuator/x"),
                    "http://127.0.0.1" + health + "/../../any")) {
                RawResponse response = app.send("GET " + path + " HTTP/1.1");
                if (response.status() == 200) {
                    passed.add(path);
                }
            }
        }

        assertThat(app.bean(TestApi.class).reached()).isEqualTo(reached);
        assertThat(passed).isEmpty();
        assertThat(app.send("GET /%61ctuator/%68ealth HTTP/1.1").status()).isIn(200, 429);
    }

    @Test
    void missingEndpoints_areChargedAsOtherPaths() {
        exhausted("/any");

        assertThat(app.get("/actuator/nothing").status()).isEqualTo(429);
        assertThat(app.get("/actuator/health/nothing/else/..").status()).isNotEqualTo(200);
    }

    @Test
    void pathsThatOnlyStartLikeThem_areCharged() {
        exhausted("/any");
        List<String> passed = Stream.of(
                        "/actuatorx",
                        "/actuator/healthx",
                        "/actuator/metricsx",
                        "/actuator/x/metrics",
                        "/actuator/metrics%20",
                        "/ACTUATOR/health",
                        "/actuator/Health",
                        "/actuator/any",
                        "/actuator/../any",
                        "/actuator;a=1/../any")
                .filter(path -> !List.of(400, 429)
                        .contains(app.send("GET " + path + " HTTP/1.1").status()))
                .toList();

        assertThat(passed).isEmpty();
        assertThat(app.counted("p", "exempt")).isZero();
    }

    @Test
    void budgetOfAllCallers_doesNotLockAnAuthenticatedOperatorOut() {
        secured("p.limit=1/hour");
        assertThat(app.getAs("alice", "/any").status()).isEqualTo(200);
        assertThat(app.getAs("alice", "/any").status()).isEqualTo(429);

        assertThat(app.getAs("alice", "/actuator/ratelimits").status()).isEqualTo(200);
        assertThat(app.getAs("alice", "/actuator/ratelimits").status()).isEqualTo(200);
        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
    }

    private void secured(String... properties) {
        start(
                List.of(
                        TestApi.class,
                        RunningApp.WithSecurity.class,
                        RunningApp.Alice.class,
                        Chains.HealthForAll.class),
                Stream.concat(Stream.of(EXPOSED), Stream.of(properties)).toArray(String[]::new));
    }

    @Test
    void passwords_cannotBeGuessedThere() {
        secured("p.limit=3/hour", "p.key=ip");
        for (int i = 0; i < 9; i++) {
            assertThat(app.getAs("alice", "/actuator/ratelimits").status()).isEqualTo(200);
            assertThat(app.getAs("alice", "/actuator/health").header("RateLimit"))
                    .isNull();
        }

        for (int i = 0; i < 3; i++) {
            assertThat(app.getAs("alice:guess", "/actuator/health").status()).isEqualTo(401);
        }

        assertThat(app.getAs("alice:guess", "/actuator/health").status()).isEqualTo(429);
        assertThat(app.getAs("alice", "/actuator/health").status()).isEqualTo(429);
        assertThat(app.get("/actuator/health").status()).isEqualTo(200);
        app.awaitCounted("p", "admitted", 3);
        assertThat(app.counted("p", "exempt")).isZero();
    }

    @Test
    void policyThatNamesThem_staysChargedWhenOthersAreRefunded() {
        secured(
                "p.limit=3/hour",
                "p.key=ip",
                "ratelimit.policies.q.limit=5/hour",
                "ratelimit.policies.q.key=ip, method",
                "ratelimit.policies.q.match.paths=/actuator/**",
                "ratelimit.policies.q.free=2xx");

        for (int i = 0; i < 9; i++) {
            RawResponse response = app.getAs("alice", "/actuator/ratelimits");
            assertThat(response.status()).isEqualTo(200);
            assertThat(response.header("RateLimit")).startsWith("\"q\";r=4;").doesNotContain("\"p\"");
        }
        for (int i = 0; i < 3; i++) {
            assertThat(app.getAs("alice:guess", "/actuator/health").status()).isEqualTo(401);
        }
        assertThat(app.getAs("alice:guess", "/actuator/health").body()).contains("\"violated-policies\":[\"p\"]");
    }

    @Test
    void explain_saysSo() {
        start(
                List.of(TestApi.class),
                "p.limit=1/hour",
                "ratelimit.policies.q.limit=2/hour",
                "ratelimit.policies.q.match.paths=/actuator/**",
                EXPOSED);
        JsonNode said =
                new ActuatorClient(app).get("/explain?path=/actuator/health").json();

        assertThat(said.get("remark").asString()).contains("management endpoint", "ratelimit.exempt.management");
        assertThat(said.get("policies")
                        .valueStream()
                        .map(policy -> policy.get("outcome").asString()))
                .containsExactlyInAnyOrder("exempt", "admitted");
        assertThat(new ActuatorClient(app)
                        .get("/explain?path=/actuator/none")
                        .json()
                        .has("remark"))
                .isFalse();
    }
}
