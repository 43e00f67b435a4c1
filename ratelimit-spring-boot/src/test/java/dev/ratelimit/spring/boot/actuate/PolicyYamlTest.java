package dev.ratelimit.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.config.ChangedPolicy;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.io.ByteArrayResource;

/** Policies as YAML, which is read again as Spring Boot reads a configuration. */
class PolicyYamlTest {

    private static final RateLimitChange NOTHING = new RateLimitChange(null, null, null);

    /** Each property of a policy, those that exclude each other in several policies. */
    private static final Map<String, Object> EVERYTHING = Map.ofEntries(
            Map.entry("a.limit", "10/second; 1000/hour"),
            Map.entry("a.algorithm", "sliding-window"),
            Map.entry("a.rounding", "floor"),
            Map.entry("a.concurrency", "20"),
            Map.entry("a.max-hold", "90s"),
            Map.entry("a.penalty", "10m"),
            Map.entry("a.key", "user,header:X-Id"),
            Map.entry("a.missing-key", "skip"),
            Map.entry("a.match.paths", "/a/**,/b/{id}"),
            Map.entry("a.match.except-paths", "/a/c"),
            Map.entry("a.match.methods", "GET,POST"),
            Map.entry("a.match.when", "#request.getHeader('X \"\\\\ \u00e4') != null"),
            Map.entry("a.permits", "2"),
            Map.entry("a.mode", "off"),
            Map.entry("a.response.status", "503"),
            Map.entry("a.response.content", "{\"a\":\n\t\"b: #c\"\u0001\u2028}"),
            Map.entry("a.response.content-type", "application/json"),
            Map.entry("a.count", "401,5xx"),
            Map.entry("a.retry-jitter.min", "1s"),
            Map.entry("a.retry-jitter.max", "1500ms"),
            Map.entry("a.stage", "after-security"),
            Map.entry("a.on-store-failure", "deny"),
            Map.entry("a.max-keys", "10"),
            Map.entry("[b/c].limit", "100/minute"),
            Map.entry("[b/c].burst", "7"),
            Map.entry("[b/c].refill", "interval"),
            Map.entry("[b/c].key", "ip"),
            Map.entry("[b/c].overrides[203.0.113.0/24]", "blocked"),
            Map.entry("[b/c].overrides[2001:db8::1]", "5/minute"),
            Map.entry("[b/c].on-exceeded.action", "wait"),
            Map.entry("[b/c].on-exceeded.max-wait", "3s"),
            Map.entry("[b/c].on-exceeded.queue", "9"),
            Map.entry("[b/c].on-exceeded.order", "newest-first"),
            Map.entry("D.plans.default", "1/minute"),
            Map.entry("D.plans[Pro Plus].limit", "2/day"),
            Map.entry("D.plans[Pro Plus].zone", "Europe/Berlin"),
            Map.entry("D.algorithm", "fixed-window"),
            Map.entry("D.align", "clock"),
            Map.entry("D.zone", "UTC"),
            Map.entry("D.key", "user"),
            Map.entry("D.plan-resolver", "plans"),
            Map.entry("D.overrides[Zo\u00eb O'Neil]", "unlimited"),
            Map.entry("D.free", "2xx"),
            Map.entry("e.concurrency", "3"),
            Map.entry("e.on-exceeded.action", "delay"),
            Map.entry("e.on-exceeded.delay", "2s"),
            Map.entry("e.on-exceeded.delayed", "8"),
            Map.entry("e.response.body", "none"),
            Map.entry("e.match.annotated", "true"),
            Map.entry("f.limit[0]", "1/second"),
            Map.entry("f.key", "user,header:X-Id"));

    private static Map<String, PolicyProperties> bind(MutablePropertySources sources) {
        return new Binder(ConfigurationPropertySources.from(sources))
                .bindOrCreate("ratelimit", RateLimitProperties.class)
                .policies();
    }

    private static Map<String, PolicyProperties> everything() {
        Map<String, Object> written = new TreeMap<>();
        EVERYTHING.forEach(
                (name, value) -> written.put("ratelimit.policies" + (name.startsWith("[") ? "" : ".") + name, value));
        MutablePropertySources sources = new MutablePropertySources();
        sources.addLast(new MapPropertySource("everything", written));
        return bind(sources);
    }

    private static Map<String, PolicyProperties> read(String yaml) {
        MutablePropertySources sources = new MutablePropertySources();
        try {
            new YamlPropertySourceLoader()
                    .load("yaml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                    .forEach(sources::addLast);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bind(sources);
    }

    @Test
    void everyProperty_isReadAgainAsItWas_alsoWithAChangeOfNothing() {
        Map<String, PolicyProperties> policies = new TreeMap<>(everything());
        policies.replaceAll((name, policy) -> ChangedPolicy.of(policy, NOTHING, NOTHING));

        assertThat(policies).hasSize(5);
        assertThat(read(PolicyYaml.of(policies, true, List.of())))
                .isEqualTo(policies)
                .isEqualTo(everything());
    }

    @Test
    void everyProperty_isAmongThoseOfThisTest() {
        assertThat(Arrays.stream(PolicyProperties.class.getRecordComponents())
                        .map(RecordComponent::getName)
                        .map(DataObjectPropertyName::toDashedForm))
                .allSatisfy(name -> assertThat(EVERYTHING.keySet()).anyMatch(written -> written.contains("." + name)));
    }

    @Test
    void properties_areWritten_unlessTheyHaveTheirDefaults() {
        assertThat(PolicyYaml.of(Map.of("p", PolicyProperties.of("1/second")), true, List.of()))
                .isEqualTo("ratelimit:\n  policies:\n    p:\n      limit: [1/second]\n");
    }

    @Test
    void overrides_areMissing_andACommentSaysSo_ifKeysAreHidden() {
        assertThat(PolicyYaml.of(everything(), false, List.of()))
                .contains("# b/c: overrides are hidden", "# D: overrides are hidden")
                .doesNotContain("203.0.113", "O'Neil", "overrides:");
    }

    @Test
    void comments_stayOnTheirLines_whateverIsInThem() {
        String yaml = PolicyYaml.of(
                Map.of("p", PolicyProperties.of("1/second")),
                true,
                List.of("release\npolicies: {}\u2028mode: off\u0001"));

        assertThat(yaml).startsWith("# release policies: {} mode: off \nratelimit:");
        assertThat(read(yaml)).containsOnlyKeys("p");
        assertThat(PolicyYaml.of(Map.of(), true, List.of("nothing"))).isEqualTo("# nothing\n");
    }
}
