package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.TestApi;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The page of the actuator as it is served, and what it needs of the endpoint. */
@Tag("servers")
class ServedPageTest extends AppPerTest {

    /** Fields that are there only sometimes. */
    private static final Set<String> OPTIONAL = Set.of(
            "value",
            "length",
            "application",
            "changed",
            "waiting",
            "burst",
            "remark",
            "annotated",
            "override",
            "liveOverride",
            "error",
            "plans",
            "penalty",
            "maxWait",
            "mostRefusedEndpoints",
            "changes",
            "retryAfter",
            "mostRefused");

    private ActuatorClient actuator(String... properties) {
        start(
                List.of(TestApi.class),
                List.of(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "management.endpoint.ratelimits.show-keys=always",
                        "p.limit=2/hour",
                        "p.key=header:X-Id",
                        "p.match.paths=/orders/**"),
                properties);
        return new ActuatorClient(app);
    }

    private String page() {
        ActuatorClient.Answer page = new ActuatorClient(app, "Accept", "text/html").get("/page");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.type()).startsWith("text/html");
        return page.body();
    }

    @Test
    void page_isOneFile_thatParsesNoTextOfOthers() {
        actuator();

        assertThat(page())
                .contains("<title>Rate limits</title>", "default-src 'none'", "require-trusted-types-for 'script'")
                .doesNotContainPattern("(src|href)=\"(?!data:|#)")
                .doesNotContainPattern("https?://(?!www\\.w3\\.org/2000/svg')")
                .doesNotContainPattern(
                        "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|\\beval\\(|new Function|@import");
    }

    @Test
    void page_readsFieldsThatExist() {
        ActuatorClient actuator = actuator();
        for (int i = 0; i < 4; i++) {
            app.get("/orders/1", "X-Id: a");
        }
        JsonNode all = actuator.get("").json();
        JsonNode policy = all.get("policies").get(0);
        JsonNode explained =
                actuator.get("/explain?path=/orders/1&header=X-Id:a").json();
        JsonNode caller = actuator.get("/caller?header=X-Id:a").json();
        JsonNode entry = caller.get("policies").get(0);
        JsonNode own = entry.get("keys").get(0);
        JsonNode limit = actuator.get("/p?key=a").json().get("limits").get(0);

        Map.of("caller", caller, "entry", entry, "own", own, "policy", policy).forEach(this::assertReadFieldsExist);
        Map.of("limit", limit, "answer", explained, "recorded", all.get("recorded"), "instance", all.get("instance"))
                .forEach(this::assertReadFieldsExist);
        assertThat(all.propertyNames()).contains("writable", "changesLast", "store", "policies");
        assertThat(policy.get("mostRefused").get(0).propertyNames()).contains("key", "refused");
        assertThat(explained.get("policies").get(0).propertyNames())
                .contains("policy", "outcome", "key", "permits", "limits");
    }

    private void assertReadFieldsExist(String variable, JsonNode json) {
        Set<String> read = Pattern.compile("\\b" + variable + "\\.([a-zA-Z]+)\\b(?!\\()")
                .matcher(page())
                .results()
                .map(found -> found.group(1))
                .filter(field -> !OPTIONAL.contains(field))
                .collect(Collectors.toSet());

        assertThat(read).as(variable).isNotEmpty();
        assertThat(json.propertyNames())
                .as("what the page reads of %s", variable)
                .containsAll(read);
    }

    @Test
    void list_namesTheInstance_andTheTimesOfItsCounts() {
        ActuatorClient actuator = actuator("spring.application.name=shop", "HOSTNAME=shop-7d9f");
        Instant start =
                Instant.parse(actuator.get("").json().at("/recorded/since").asString());
        app.ticker().advance(Duration.ofSeconds(150));

        JsonNode all = actuator.get("").json();

        assertThat(all.at("/instance/application").asString()).isEqualTo("shop");
        assertThat(all.at("/instance/name").asString())
                .isEqualTo("shop-7d9f:" + app.client().port());
        assertThat(all.at("/recorded/since").asString()).isEqualTo(start.toString());
        assertThat(all.at("/recorded/minute").asString())
                .isEqualTo(start.plusSeconds(120).toString());
        assertThat(all.at("/recorded/time").asString())
                .isEqualTo(start.plusSeconds(150).toString());
    }
}
