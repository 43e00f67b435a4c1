package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The dashboard can be imported, and asks for metrics that exist, by labels that they have. */
class DashboardTest {

    private static final Pattern VARIABLE = Pattern.compile("\\$(\\w+)");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.*), (\\w+)\\)");
    private static final Pattern HISTOGRAM =
            Pattern.compile("management\\.metrics\\.distribution\\.percentiles-histogram\\.([a-z.]+) ");

    private static RegisteredMeters meters;
    private static JsonNode dashboard;

    @BeforeAll
    static void read() throws IOException {
        meters = new RegisteredMeters();
        dashboard = JsonMapper.shared().readTree(Files.readString(Path.of("../docs/grafana.json")));
    }

    private static List<JsonNode> all() {
        return dashboard.get("panels").valueStream().toList();
    }

    /** Without the headings of rows. */
    private static List<JsonNode> panels() {
        return all().stream().filter(panel -> !type(panel).equals("row")).toList();
    }

    private static String type(JsonNode panel) {
        return panel.get("type").asString();
    }

    private static List<JsonNode> variables() {
        return dashboard.get("templating").get("list").valueStream().toList();
    }

    private static List<String> expressions() {
        return dashboard.findValuesAsString("expr");
    }

    @Test
    void expressions_askForMetricsThatExist() {
        Set<String> asked = new TreeSet<>();

        expressions().forEach(expression -> asked.addAll(meters.check(expression, Set.of())));

        assertThat(asked).hasSizeGreaterThanOrEqualTo(20);
    }

    @Test
    void meters_haveAPanel() {
        Set<String> asked = new TreeSet<>();
        expressions().forEach(expression -> asked.addAll(meters.check(expression, Set.of())));

        assertThat(meters.own())
                .hasSizeGreaterThanOrEqualTo(15)
                .allSatisfy(names -> assertThat(asked).containsAnyElementsOf(names));
    }

    @Test
    void expressions_areOfTheChosenApplicationsAndInstances() {
        String chosen = Pattern.quote("{application=~\"$application\", instance=~\"$instance\"");

        assertThat(expressions())
                .map(expression -> expression.replaceAll("\\w+" + chosen + "[^}]*}", ""))
                .allSatisfy(rest -> assertThat(rest).doesNotContain("{", "ratelimit_", "http_"));
    }

    @Test
    void expressions_useVariablesThatExist() {
        Set<String> known =
                variables().stream().map(one -> one.get("name").asString()).collect(Collectors.toSet());
        known.add("__rate_interval");

        assertThat(Stream.concat(
                                expressions().stream(),
                                variables().stream().map(one -> one.get("query").toString()))
                        .flatMap(text -> VARIABLE.matcher(text).results().map(found -> found.group(1))))
                .isNotEmpty()
                .isSubsetOf(known);
    }

    @Test
    void variables_askForMetricsThatExist() {
        List<JsonNode> queries =
                variables().stream().filter(one -> type(one).equals("query")).toList();

        assertThat(queries).hasSize(3).allSatisfy(one -> {
            String query = one.get("definition").asString();
            assertThat(query)
                    .isEqualTo(one.get("query").get("query").asString())
                    .matches(LABEL_VALUES);
            meters.check(LABEL_VALUES.matcher(query).replaceAll("sum by ($2) ($1)"), Set.of());
        });
    }

    /** A request counts under each policy that applies to it. */
    @Test
    void requests_ofSeveralPolicies_areNotAddedUp() {
        assertThat(expressions())
                .filteredOn(expression -> expression.contains("ratelimit_requests_total"))
                .isNotEmpty()
                .allSatisfy(expression -> assertThat(expression)
                        .doesNotContainPattern("sum\\s*\\(\\s*(rate\\()?ratelimit_requests_total")
                        .doesNotContainPattern("sum by \\((?!policy)"));
    }

    @Test
    void panels_haveUnitsDescriptionsAndTitles() {
        assertThat(panels()).hasSizeGreaterThan(20).allSatisfy(panel -> {
            assertThat(panel.at("/fieldConfig/defaults/unit").asString("")).isNotEmpty();
            assertThat(panel.get("description").asString()).endsWith(".");
            assertThat(panel.get("targets").size()).isPositive();
        });
        assertThat(all().stream().map(panel -> panel.get("id").asInt())).doesNotHaveDuplicates();
        assertThat(all().stream().map(panel -> type(panel) + panel.get("title").asString()))
                .doesNotHaveDuplicates();
    }

    @Test
    void panels_doNotOverlap() {
        Set<String> taken = new HashSet<>();

        assertThat(all()).allSatisfy(panel -> {
            JsonNode at = panel.get("gridPos");
            assertThat(at.get("x").asInt() + at.get("w").asInt()).isLessThanOrEqualTo(24);
            for (int x = 0; x < at.get("w").asInt(); x++) {
                for (int y = 0; y < at.get("h").asInt(); y++) {
                    assertThat(taken.add(
                                    at.get("x").asInt() + x + "," + (at.get("y").asInt() + y)))
                            .isTrue();
                }
            }
        });
    }

    @Test
    void percentiles_areOfTimersThatTheirDescriptionSwitchesOn() {
        assertThat(panels())
                .filteredOn(panel -> panel.toString().contains("histogram_quantile"))
                .hasSize(2)
                .allSatisfy(panel -> assertThat(HISTOGRAM
                                .matcher(panel.get("description").asString())
                                .results()
                                .map(found -> found.group(1)))
                        .hasSize(1)
                        .isSubsetOf(meters.timers()));
    }

    /** As the import dialog expects it. */
    @Test
    void dataSource_isAskedForByTheImport() {
        String input = dashboard.get("__inputs").get(0).get("name").asString();

        assertThat(dashboard.findValues("datasource"))
                .hasSizeGreaterThan(50)
                .allSatisfy(source -> assertThat(source.get("uid").asString()).isEqualTo("${" + input + "}"));
    }
}
