package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The alerts ask for metrics that exist, say what to do, and have a test for promtool. */
class AlertsTest {

    private static final Path DOCS = Path.of("../docs");
    private static final Pattern LABEL = Pattern.compile("\\$labels\\.(\\w+)");

    private static RegisteredMeters meters;
    private static List<Map<?, ?>> rules;
    private static String tests;

    @BeforeAll
    static void read() throws IOException {
        meters = new RegisteredMeters();
        Map<?, ?> file = new Yaml().load(Files.readString(DOCS.resolve("alerts.yml")));
        rules = maps(file, "groups").flatMap(group -> maps(group, "rules")).toList();
        tests = Files.readString(DOCS.resolve("alerts-test.yml"));
    }

    private static Map<?, ?> map(Map<?, ?> parent, String name) {
        return (Map<?, ?>) Objects.requireNonNull(parent.get(name));
    }

    private static Stream<Map<?, ?>> maps(Map<?, ?> parent, String name) {
        return ((List<?>) Objects.requireNonNull(parent.get(name))).stream().map(one -> (Map<?, ?>) one);
    }

    private static String text(Map<?, ?> parent, String name) {
        return String.valueOf(parent.get(name)).strip();
    }

    private static List<Map<?, ?>> alerts() {
        return rules.stream().filter(rule -> rule.containsKey("alert")).toList();
    }

    private static Set<String> recorded() {
        return rules.stream()
                .filter(rule -> rule.containsKey("record"))
                .map(rule -> text(rule, "record"))
                .collect(Collectors.toSet());
    }

    /** The expression, with those of the rules that it uses. */
    private static String whole(Map<?, ?> alert) {
        return rules.stream()
                .filter(rule ->
                        rule.containsKey("record") && text(alert, "expr").contains(text(rule, "record")))
                .map(rule -> text(rule, "expr"))
                .collect(Collectors.joining("\n", text(alert, "expr") + "\n", ""));
    }

    @Test
    void expressions_askForMetricsThatExist() {
        assertThat(rules)
                .hasSizeGreaterThanOrEqualTo(10)
                .allSatisfy(rule -> meters.check(text(rule, "expr"), recorded()));
    }

    @Test
    void annotations_sayWhatToDoAndWhereThatIsExplained() throws IOException {
        Set<String> sections = new HashSet<>();
        for (String page : List.of("operations.md", "operations/alerts.md")) {
            Files.readString(DOCS.resolve(page))
                    .lines()
                    .filter(line -> line.startsWith("#"))
                    .map(line -> line.replaceFirst("#+ ", "")
                            .toLowerCase(Locale.ROOT)
                            .replace(' ', '-'))
                    .forEach(anchor -> sections.add("docs/" + page + "#" + anchor));
        }

        assertThat(alerts()).isNotEmpty().allSatisfy(alert -> {
            Map<?, ?> annotations = map(alert, "annotations");
            assertThat(annotations.keySet()).hasToString("[summary, description, runbook_url]");
            assertThat(text(annotations, "description")).endsWith(".");
            assertThat(sections).contains(text(annotations, "runbook_url"));
            assertThat(text(map(alert, "labels"), "severity")).isIn("critical", "warning", "info");
        });
    }

    @Test
    void annotations_useLabelsOfTheResult() {
        assertThat(alerts())
                .allSatisfy(alert -> assertThat(LABEL.matcher(text(alert, "annotations"))
                                .results()
                                .map(found -> found.group(1)))
                        .contains("job")
                        .isSubsetOf(RegisteredMeters.grouped(whole(alert))));
    }

    @Test
    void eachAlert_hasATestOfFiring() {
        assertThat(alerts())
                .allSatisfy(alert -> assertThat(tests)
                        .contains("ALERTS{alertname=\"" + text(alert, "alert") + "\", alertstate=\"firing\""));
    }

    /** Each test ends with a moment at which no alert fires. */
    @Test
    void eachTest_endsWithoutAlerts() {
        Map<?, ?> file = new Yaml().load(tests);

        assertThat(maps(file, "tests"))
                .hasSizeGreaterThanOrEqualTo(alerts().size())
                .allSatisfy(test -> assertThat(maps(test, "promql_expr_test")
                                .toList()
                                .get((int) maps(test, "promql_expr_test").count() - 1)
                                .get("exp_samples"))
                        .isEqualTo(List.of()));
    }
}
