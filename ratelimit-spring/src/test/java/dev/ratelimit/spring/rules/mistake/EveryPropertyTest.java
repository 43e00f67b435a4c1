package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.mock.env.MockEnvironment;

/** Whatever is wrong under any property, our report names that property. */
class EveryPropertyTest {

    /** Properties that accept any text. */
    private static final Set<String> TEXTS = Set.of(
            "ratelimit.response.detail",
            "ratelimit.response.content",
            "ratelimit.policies.login.response.detail",
            "ratelimit.policies.login.response.content",
            "ratelimit.exempt.keys");

    private static final String LIMIT = "ratelimit.policies.login.limit";

    static Stream<String> properties() {
        return Stream.of(
                        names("ratelimit.", RateLimitProperties.class),
                        names("ratelimit.policies.login.", PolicyProperties.class),
                        names("ratelimit.policies.login.plans.pro.", PolicyProperties.Plan.class))
                .flatMap(names -> names);
    }

    private static Stream<String> names(String prefix, Class<?> type) {
        return Stream.of(type.getRecordComponents()).flatMap(component -> names(prefix, component));
    }

    private static Stream<String> names(String prefix, RecordComponent component) {
        String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
        Stream<String> below = component.getType().isRecord() ? names(name + ".", component.getType()) : Stream.empty();
        return Stream.concat(Stream.of(name), below);
    }

    /** The output of a start with this property. */
    private static @Nullable FailureAnalysis report(String name, String value) {
        MockEnvironment environment = new MockEnvironment();
        if (!LIMIT.startsWith(name) && !name.startsWith(LIMIT)) {
            environment.setProperty(LIMIT, "5/minute");
        }
        environment.setProperty(name, value);
        return Start.report(environment);
    }

    @ParameterizedTest
    @MethodSource("properties")
    void property_empty_isReportedByName(String name) {
        for (String empty : List.of("", "  ", "${UNSET:}")) {
            assertThat(report(name, empty))
                    .extracting(FailureAnalysis::getDescription)
                    .asString()
                    .contains("    " + name + ": has no value");
        }
    }

    @ParameterizedTest
    @MethodSource("properties")
    void property_ofAnUnsetVariable_isReportedByName(String name) {
        assertThat(report(name, "${UNSET}"))
                .extracting(FailureAnalysis::getDescription)
                .asString()
                .contains("    " + name + ": '${UNSET}' has a placeholder without a value");
    }

    @ParameterizedTest
    @MethodSource("properties")
    void property_ofAnotherType_isReportedByName(String name) {
        for (String suffix : List.of("", "[0]", ".below")) {
            FailureAnalysis report = report(name + suffix, "?!");

            if (!TEXTS.contains(name)) {
                assertThat(report).as(name + suffix).isNotNull();
            }
            if (report != null) {
                assertThat(report.getDescription())
                        .matches("(?s)(Invalid rate limit configuration|Unknown property under 'ratelimit'):.*")
                        // a plan is reported by its name, because only its limit may be written
                        .contains("    " + name.replace("plans.pro.limit", "plans.pro"));
                assertThat(report.getAction()).isNotBlank();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("properties")
    void duration_withoutAUnit_isReportedByName(String name) {
        if (KnownProperties.typeOf(ConfigurationPropertyName.of(name)) == Duration.class) {
            FailureAnalysis report = report(name, "5");

            assertThat(report)
                    .extracting(FailureAnalysis::getDescription)
                    .asString()
                    .contains("    " + name + ": has no unit, and a number without a unit would be milliseconds");
            assertThat(report).extracting(FailureAnalysis::getAction).isEqualTo("Write 5s or 5ms.");
        }
    }

    /** Whoever adds a property decides whether a refresh reads it again. */
    @Test
    void propertiesThatAreReadAtTheStartOnly_areAllButThePolicies() {
        MapConfigurationPropertySource other = new MapConfigurationPropertySource(Map.ofEntries(
                Map.entry("ratelimit.enabled", "false"),
                Map.entry("ratelimit.trusted-proxies", "10.0.0.0/8"),
                Map.entry("ratelimit.forwarded-header", "forwarded"),
                Map.entry("ratelimit.ipv4-prefix", "24"),
                Map.entry("ratelimit.ipv6-prefix", "48"),
                Map.entry("ratelimit.ignore-case", "true"),
                Map.entry("ratelimit.exempt.paths", "/x"),
                Map.entry("ratelimit.headers", "none"),
                Map.entry("ratelimit.expose-shared", "true"),
                Map.entry("ratelimit.retry-after-millis-header", "X-Wait"),
                Map.entry("ratelimit.response.status", "503"),
                Map.entry("ratelimit.store.type", "redis"),
                Map.entry("ratelimit.events.refusals", "true"),
                Map.entry("ratelimit.metrics.endpoints", "true"),
                Map.entry("ratelimit.recording.enabled", "true")));
        RateLimitProperties standard = new Binder(new MapConfigurationPropertySource(Map.of()))
                .bindOrCreate("ratelimit", RateLimitProperties.class);

        List<String> differ =
                standard.fixedThatDiffer(new Binder(other).bindOrCreate("ratelimit", RateLimitProperties.class));

        assertThat(differ)
                .containsExactlyElementsOf(Stream.of(RateLimitProperties.class.getRecordComponents())
                        .map(component -> "ratelimit." + DataObjectPropertyName.toDashedForm(component.getName()))
                        .filter(name -> !name.equals("ratelimit.policies"))
                        .toList());
        assertThat(standard.fixedThatDiffer(standard)).isEmpty();
    }
}
