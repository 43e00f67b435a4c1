package dev.ratelimit.spring.rules.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.KeyOverride;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.decision.RulesInForce;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The policies in force as they would have to be configured. */
class PoliciesInForceTest {

    private static final PlanResolver PLANS = caller -> null;

    private final LiveRules live = new LiveRules(
            Map.of("plans", PLANS),
            "ratelimit.policies.a.limit=10/second; 1000/hour",
            "ratelimit.policies.a.concurrency=20",
            "ratelimit.policies.a.key=user",
            "ratelimit.policies.a.mode=off",
            "ratelimit.policies[b/c].limit=100/minute",
            "ratelimit.policies[b/c].burst=7",
            "ratelimit.policies[b/c].on-exceeded.action=wait",
            "ratelimit.policies.D.plans.default=1/minute",
            "ratelimit.policies.D.plans[Pro Plus]=2/day",
            "ratelimit.policies.D.key=user",
            "ratelimit.policies.e.concurrency=3",
            "ratelimit.policies.same.limit=5/second",
            "ratelimit.policies.same.key=user");

    private Map<String, PolicyProperties> policies(boolean all) {
        return live.history.policies(all);
    }

    private static Map<String, String> versions(RulesInForce rules) {
        return new TreeMap<>(rules.byPolicy().keySet().stream()
                .collect(Collectors.toMap(
                        policy -> policy, policy -> rules.version(policy).toString())));
    }

    @Test
    void changedPolicies_areAsTheyAreInForce() {
        live.policies.change("a", new RateLimitChange("1500/minute", null, Mode.SHADOW));
        live.policies.change("a/concurrency", RateLimitChange.toLimit("2000"));
        live.policies.change("b/c", new RateLimitChange(null, 0L, null));
        live.policies.change("D", RateLimitChange.toLimit("3/minute"));
        live.policies.change("e", RateLimitChange.toLimit("4"));
        live.policies.change("a", RateLimitChange.toPenalty(Duration.ofMinutes(7)));
        live.policies.change("b/c", RateLimitChange.toMaxWait(Duration.ofSeconds(9)));
        live.policies.change("D", RateLimitChange.toPlan("Pro Plus", "5/day"));

        assertThat(policies(false)).containsOnlyKeys("a", "b/c", "D", "e");
        assertThat(versions(live.rules.read(policies(true), Map.of()).rules()))
                .isEqualTo(versions(live.rules.inForce()));
        assertThat(Objects.requireNonNull(Objects.requireNonNull(policies(false).get("D"))
                                .plans()
                                .get("default"))
                        .limit())
                .isEqualTo("3/minute");
    }

    @Test
    void policies_areThoseOfTheConfiguration_withoutAChange_orAfterIt() {
        live.policies.change("a", RateLimitChange.toLimit("5/hour"));
        live.policies.restore("a");
        live.policies.override("same", "bob", KeyOverride.blocked());

        assertThat(policies(false)).isEmpty();
        assertThat(policies(true)).isEqualTo(live.rules.policies());
    }

    @Test
    void policy_isAmongThoseThatDiffer_ifItsConcurrencyLimitAloneIsChanged() {
        live.policies.change("a/concurrency", RateLimitChange.toMode(Mode.SHADOW));

        assertThat(policies(false)).containsOnlyKeys("a");
    }

    static final class Pages {

        @RateLimited(value = "3/hour", name = "inline")
        void page() {}
    }

    @Test
    void policyOfAnAnnotation_hasNoConfiguration() {
        LiveRules annotated = new LiveRules(Pages.class);
        String name = annotated.policies.names().iterator().next();
        annotated.policies.change(name, RateLimitChange.toLimit("2/hour"));

        assertThat(annotated.history.policies(true)).isEmpty();
        assertThat(annotated.liveChanges.report()).containsOnlyKeys(name);
    }
}
