package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.spring.boot.metrics.MeteredOutcomeCounter;
import dev.ratelimit.spring.boot.redis.RedisStoreMeters;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The dashboard asks for metrics that exist, by labels that they have. */
class DashboardTest {

    private static final Pattern METRIC = Pattern.compile("\\b(ratelimit_[a-z_]+)(?:\\{([^}]*)})?");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=~?\"([^\"]*)\"");

    /** What Prometheus or the scraping adds. */
    private static final Set<String> FOREIGN_LABELS = Set.of("application", "instance");

    private final MeterRegistry registry = new SimpleMeterRegistry();

    private Stream<String> names(Meter meter) {
        String name = meter.getId().getName().replace('.', '_');
        if (meter instanceof Timer) {
            return Stream.of(name + "_seconds_sum", name + "_seconds_count", name + "_seconds_max");
        }
        String unit =
                meter.getId().getBaseUnit() == null ? "" : "_" + meter.getId().getBaseUnit();
        return Stream.of(name + unit + (meter instanceof Counter || meter instanceof FunctionCounter ? "_total" : ""));
    }

    private Stream<Meter> meters(String metric) {
        return registry.getMeters().stream().filter(meter -> names(meter).anyMatch(metric::equals));
    }

    private void register() {
        new WebApplicationContextRunner()
                .withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class))
                .withBean(MeterRegistry.class, () -> registry, bean -> bean.setDestroyMethodName(""))
                .withPropertyValues(
                        "ratelimit.policies.api.limit=1/hour", "ratelimit.policies.api.on-exceeded.action=wait")
                .run(context -> {
                    MeteredOutcomeCounter outcomes =
                            context.getBean("dev.ratelimit.outcomes", MeteredOutcomeCounter.class);
                    outcomes.count("api", Outcome.ADMITTED);
                    outcomes.waited("api", Outcome.WAITED, 1);
                    Runnable unused = context.getBean("dev.ratelimit.outcomes", MeteredOutcomeCounter.class)
                            .held(Policy.of("api", Concurrency.of(1)).charge());
                    try (RedisClient client = RedisClient.create("redis://127.0.0.1:1");
                            RedisStore store = RedisStore.builder(client).build();
                            RedisStoreMeters meters = new RedisStoreMeters(registry)) {
                        meters.watch(store);
                        check();
                        checkAlerts();
                    }
                });
    }

    private void check() throws IOException {
        JsonNode dashboard = JsonMapper.shared().readTree(Files.readString(Path.of("../docs/grafana.json")));
        Set<String> asked = new TreeSet<>();
        dashboard.findValuesAsString("expr").forEach(expression -> asked.addAll(metricsOf(expression)));
        assertThat(asked).hasSizeGreaterThanOrEqualTo(8);
        assertThat(known()).containsAll(asked);
        // as the import dialog expects it
        assertThat(dashboard.get("__inputs").get(0).get("name").asString()).isEqualTo("DS_PROMETHEUS");
        assertThat(dashboard
                        .get("panels")
                        .valueStream()
                        .map(panel -> panel.get("id").asInt()))
                .doesNotHaveDuplicates();
    }

    private Set<String> metricsOf(String expression) {
        Set<String> metrics = new TreeSet<>();
        METRIC.matcher(expression).results().forEach(found -> {
            metrics.add(found.group(1));
            checkLabels(found.group(1), String.valueOf(found.group(2)));
        });
        return metrics;
    }

    private Set<String> known() {
        return registry.getMeters().stream().flatMap(this::names).collect(Collectors.toSet());
    }

    private void checkAlerts() throws IOException {
        List<String> expressions = new ArrayList<>();
        Map<String, Object> file = new Yaml().load(Files.readString(Path.of("../docs/alerts.yml")));
        collect(file, expressions);

        assertThat(expressions)
                .hasSizeGreaterThanOrEqualTo(5)
                .allSatisfy(expression -> assertThat(known()).containsAll(metricsOf(expression)));
    }

    private static void collect(@Nullable Object node, List<String> expressions) {
        if (node instanceof Map<?, ?> map) {
            map.forEach((name, value) -> {
                if ("expr".equals(name)) {
                    expressions.add(String.valueOf(value));
                }
                collect(value, expressions);
            });
        } else if (node instanceof List<?> list) {
            list.forEach(value -> collect(value, expressions));
        }
    }

    private void checkLabels(String metric, String selector) {
        assertThat(meters(metric)).as(metric).isNotEmpty();
        LABEL.matcher(selector).results().forEach(label -> {
            if (!FOREIGN_LABELS.contains(label.group(1))) {
                Set<String> values = meters(metric)
                        .map(meter -> String.valueOf(meter.getId().getTag(label.group(1))))
                        .collect(Collectors.toSet());
                assertThat(values).as("%s of %s", label.group(1), metric).doesNotContain("null");
                if (!label.group(2).startsWith("$")) {
                    assertThat(values).containsAll(Set.of(label.group(2).split("\\|", -1)));
                }
            }
        });
    }

    @Test
    void dashboard_asksForMetricsThatExist() {
        register();
    }
}
