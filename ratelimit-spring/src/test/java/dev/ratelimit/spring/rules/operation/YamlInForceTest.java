package dev.ratelimit.spring.rules.operation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.io.ByteArrayResource;

/** The policies in force as YAML, which is read again as Spring Boot reads a configuration. */
class YamlInForceTest {

    private static final PlanResolver PLANS = caller -> null;

    /** Each property of a policy, those that exclude each other in several policies. */
    private static final String[] EVERYTHING = {
        "ratelimit.policies.a.limit=10/second; 1000/hour",
        "ratelimit.policies.a.algorithm=sliding-window",
        "ratelimit.policies.a.rounding=floor",
        "ratelimit.policies.a.concurrency=20",
        "ratelimit.policies.a.max-hold=90s",
        "ratelimit.policies.a.penalty=10m",
        "ratelimit.policies.a.key=user,header:X-Id",
        "ratelimit.policies.a.missing-key=skip",
        "ratelimit.policies.a.match.paths=/a/**,/b/{id}",
        "ratelimit.policies.a.match.except-paths=/a/c",
        "ratelimit.policies.a.match.methods=GET,POST",
        "ratelimit.policies.a.match.when=#request.getHeader('X \"\\\\ \u00e4') != null",
        "ratelimit.policies.a.permits=2",
        "ratelimit.policies.a.mode=off",
        "ratelimit.policies.a.response.status=503",
        "ratelimit.policies.a.response.content={\"a\":\n\t\"b: #c\"}",
        "ratelimit.policies.a.response.content-type=application/json",
        "ratelimit.policies.a.count=401,5xx",
        "ratelimit.policies.a.retry-jitter.min=1s",
        "ratelimit.policies.a.retry-jitter.max=1500ms",
        "ratelimit.policies.a.stage=after-security",
        "ratelimit.policies.a.on-store-failure=deny",
        "ratelimit.policies.a.max-keys=10",
        "ratelimit.policies[b/c].limit=100/minute",
        "ratelimit.policies[b/c].burst=7",
        "ratelimit.policies[b/c].refill=interval",
        "ratelimit.policies[b/c].key=ip",
        "ratelimit.policies[b/c].overrides[203.0.113.0/24]=blocked",
        "ratelimit.policies[b/c].overrides[2001:db8::1]=5/minute",
        "ratelimit.policies[b/c].on-exceeded.action=wait",
        "ratelimit.policies[b/c].on-exceeded.max-wait=3s",
        "ratelimit.policies[b/c].on-exceeded.queue=9",
        "ratelimit.policies[b/c].on-exceeded.order=newest-first",
        "ratelimit.policies.D.plans.default=1/minute",
        "ratelimit.policies.D.plans[Pro Plus].limit=2/day",
        "ratelimit.policies.D.plans[Pro Plus].zone=Europe/Berlin",
        "ratelimit.policies.D.algorithm=fixed-window",
        "ratelimit.policies.D.align=clock",
        "ratelimit.policies.D.zone=UTC",
        "ratelimit.policies.D.key=user",
        "ratelimit.policies.D.plan-resolver=plans",
        "ratelimit.policies.D.overrides[Zo\u00eb O'Neil]=unlimited",
        "ratelimit.policies.D.free=2xx",
        "ratelimit.policies.e.concurrency=3",
        "ratelimit.policies.e.on-exceeded.action=delay",
        "ratelimit.policies.e.on-exceeded.delay=2s",
        "ratelimit.policies.e.on-exceeded.delayed=8",
        "ratelimit.policies.e.response.body=none",
        "ratelimit.policies.e.match.annotated=true",
    };

    private static LiveRules everything() {
        return new LiveRules(Map.of("plans", PLANS), EVERYTHING);
    }

    private static String yaml(LiveRules live, boolean all) {
        return live.operations.history().yaml(all, live.operations::overrides, live.operations.shownKeys(true), true);
    }

    private static RateLimitProperties bind(String yaml) {
        MutablePropertySources sources = new MutablePropertySources();
        try {
            new YamlPropertySourceLoader()
                    .load("yaml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                    .forEach(sources::addLast);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Binder(ConfigurationPropertySources.from(sources))
                .bindOrCreate("ratelimit", RateLimitProperties.class);
    }

    private static Map<String, String> versions(RulesInForce rules) {
        return new TreeMap<>(rules.byPolicy().keySet().stream()
                .collect(Collectors.toMap(
                        policy -> policy, policy -> rules.version(policy).toString())));
    }

    /** The versions of these policies if they are configured in this way. */
    private static Map<String, String> versions(LiveRules live, RateLimitProperties pasted) {
        return versions(live.rules.read(pasted.policies(), Map.of()).rules());
    }

    @Test
    void everyProperty_isWritten_andReadAgainAsItWas() {
        LiveRules live = everything();

        assertThat(bind(yaml(live, true)).policies()).isEqualTo(live.rules.policies());
    }

    /** A property that is added must be written, too. */
    @Test
    void everyProperty_isAmongThoseOfThisTest() {
        assertThat(Arrays.stream(PolicyProperties.class.getRecordComponents())
                        .map(RecordComponent::getName)
                        .map(name -> name.replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT)))
                .allSatisfy(name -> assertThat(EVERYTHING).anyMatch(written -> written.contains("." + name)));
    }

    @Test
    void changedPolicies_areWritten_asTheyAreInForce() {
        LiveRules live = everything();
        live.operations.change("a", new RateLimitChange("1500/minute", null, Mode.SHADOW));
        live.operations.change("a/concurrency", RateLimitChange.toLimit("2000"));
        live.operations.change("b/c", new RateLimitChange(null, 0L, null));
        live.operations.change("D", RateLimitChange.toLimit("3/minute"));
        live.operations.change("e", RateLimitChange.toLimit("4"));
        live.operations.change("a", RateLimitChange.toPenalty(Duration.ofMinutes(7)));
        live.operations.change("b/c", RateLimitChange.toMaxWait(Duration.ofSeconds(9)));
        live.operations.change("D", RateLimitChange.toPlan("Pro Plus", "5/day"));

        RateLimitProperties pasted = bind(yaml(live, false));

        assertThat(pasted.policies()).containsOnlyKeys("a", "b/c", "D", "e");
        assertThat(versions(live, pasted)).isEqualTo(versions(live.rules.inForce()));
        assertThat(requireNonNull(requireNonNull(pasted.policies().get("D"))
                                .plans()
                                .get("default"))
                        .limit())
                .isEqualTo("3/minute");
    }

    @Test
    void onlyWhatDiffers_isWritten_withWhoWhenAndWhy() {
        LiveRules live = new LiveRules(
                "p.limit=100/minute", "ratelimit.policies.q.limit=1/second", "ratelimit.policies.q.key=user");
        live.operations.identify(() -> "alice");
        live.operations.change(
                "p",
                RateLimitChange.toLimit("50/minute")
                        .lasting(Duration.ofHours(1))
                        .because("release\npolicies: {}\u2028mode: off"));

        assertThat(yaml(live, false)).isEqualTo("""
                        # The policies that differ from their configuration, as they are in force. After a deployment of them, remove the changes by {"restore": true}.
                        ratelimit:
                          policies:
                            p:
                              # limit: 50/minute, by alice at 1970-01-01T00:00:00Z, until 1970-01-01T01:00:00Z, because of release
                              # policies: {}?mode: off; configured was 100/minute
                              limit: "50/minute"
                        """.replace("1970-01-01T00:00:00Z", since(live))
                .replace("1970-01-01T01:00:00Z", until(live)));
        live.operations.restore("p");
        assertThat(yaml(live, false)).isEqualTo("# All policies are as configured.\n");
    }

    private static String since(LiveRules live) {
        return live.operations.history(1).get(0).time().toString();
    }

    private static String until(LiveRules live) {
        return String.valueOf(live.operations.history(1).get(0).until());
    }

    @Test
    void overridesOfKeys_areComments_andKeysAreHiddenIfAsked() {
        LiveRules live = new LiveRules("p.limit=100/minute", "p.key=user", "p.overrides.carol=blocked");
        live.operations.override("p", "bob", KeyOverride.blocked().because("flood"));

        assertThat(yaml(live, false))
                .contains("# Override of key bob: blocked, by ", "because of flood", "carol: blocked");
        assertThat(bind(yaml(live, false)).policies()).isEqualTo(live.rules.policies());
        assertThat(live.operations
                        .history()
                        .yaml(true, live.operations::overrides, live.operations.shownKeys(false), false))
                .contains("# Override of key #", "1 are hidden")
                .doesNotContain("bob", "carol");
    }

    static final class Pages {

        @RateLimited(value = "3/hour", name = "inline")
        void page() {}
    }

    @Test
    void policyOfAnAnnotation_isAComment() {
        LiveRules live = new LiveRules(Pages.class);
        String name = live.operations.names().iterator().next();
        live.operations.change(name, RateLimitChange.toLimit("2/hour"));

        assertThat(yaml(live, false))
                .contains("# The policy " + name + " is written out in an annotation. limit: 2/hour, by")
                .doesNotContain("ratelimit:");
    }

    @Test
    void modeOfAConcurrencyLimitAlone_isAComment() {
        LiveRules live = new LiveRules("p.limit=100/minute", "p.concurrency=5");
        live.operations.change("p/concurrency", RateLimitChange.toMode(Mode.SHADOW));

        assertThat(yaml(live, false))
                .contains("# mode of the concurrency limit alone: shadow, by", "the configuration has no such property")
                .contains("concurrency: 5");
    }

    @Test
    void overridesOfConcurrencyLimits_andOfAnnotatedPolicies_areComments() {
        LiveRules live = new LiveRules("p.limit=100/minute", "p.concurrency=5", "p.key=user");
        live.operations.override("p/concurrency", "bob", KeyOverride.to("3"));
        LiveRules annotated = new LiveRules(Pages.class);
        String name = annotated.operations.names().iterator().next();
        annotated.operations.override(name, "ip:192.0.2.1", KeyOverride.blocked());

        assertThat(yaml(live, false))
                .contains("# Override of key bob of the concurrency limit alone: 3, by", "no such property")
                .contains("concurrency: 5");
        assertThat(yaml(annotated, false))
                .startsWith("# All policies of the configuration are as configured.")
                .contains("# The policy " + name
                        + " is written out in an annotation. Override of key ip:192.0.2.1: blocked, by");
    }

    @Test
    void plan_hasItsNameAsItIsConfigured() {
        LiveRules live =
                new LiveRules(Map.of("plans", PLANS), "p.limit=9/hour", "p.key=user", "p.plans.[a+b c]=5/hour");
        live.operations.change("p", RateLimitChange.toPlan("a+b c", "7/hour"));

        assertThat(yaml(live, false)).contains("# plan-limit.a+b c: 7/hour, by");
    }
}
