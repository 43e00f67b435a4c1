package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes policies as they are configured under {@code ratelimit.policies}; what has its default value is left out. */
final class PolicyYaml {

    private static final PolicyProperties DEFAULT = PolicyProperties.of("1/second");

    private final YamlText yaml;
    private final boolean showKeys;

    /**
     * Writes into this text.
     *
     * @param showKeys whether to show keys; without them, overrides are left out
     */
    PolicyYaml(YamlText yaml, boolean showKeys) {
        this.yaml = yaml;
        this.showKeys = showKeys;
    }

    /** Writes the properties of a policy. */
    void write(PolicyProperties policy) {
        yaml.property("limit", limit(policy.limit()), null);
        yaml.property("algorithm", policy.algorithm(), DEFAULT.algorithm());
        yaml.property("concurrency", policy.concurrency(), null);
        yaml.property("max-hold", policy.maxHold(), null);
        yaml.property("burst", policy.burst(), null);
        yaml.property("refill", policy.refill(), null);
        yaml.property("align", policy.align(), null);
        yaml.property("zone", policy.zone(), null);
        yaml.property("rounding", policy.rounding(), null);
        yaml.property("penalty", policy.penalty(), null);
        yaml.property("key", policy.key(), DEFAULT.key());
        yaml.property("missing-key", policy.missingKey(), DEFAULT.missingKey());
        write(policy.match());
        yaml.property("permits", policy.permits(), DEFAULT.permits());
        yaml.property("mode", policy.mode(), DEFAULT.mode());
        write(policy.onExceeded());
        write(policy.response());
        yaml.property("count", policy.count(), DEFAULT.count());
        yaml.property("free", policy.free(), DEFAULT.free());
        plans(policy.plans());
        yaml.property("plan-resolver", policy.planResolver(), null);
        overrides(policy.overrides());
        write(policy.retryJitter());
        yaml.property("stage", policy.stage(), DEFAULT.stage());
        yaml.property("on-store-failure", policy.onStoreFailure(), DEFAULT.onStoreFailure());
        yaml.property("max-keys", policy.maxKeys(), DEFAULT.maxKeys());
    }

    /** One limit is a text, unless Spring Boot would split it at its commas. */
    private static @Nullable Object limit(@Nullable List<String> limits) {
        return limits != null && limits.size() == 1 && !limits.get(0).contains(",") ? limits.get(0) : limits;
    }

    private void write(PolicyProperties.Match match) {
        PolicyProperties.Match none = DEFAULT.match();
        if (!match.equals(none)) {
            yaml.group("match", () -> {
                yaml.property("paths", match.paths(), none.paths());
                yaml.property("except-paths", match.exceptPaths(), none.exceptPaths());
                yaml.property("methods", match.methods(), none.methods());
                yaml.property("when", match.when(), null);
                yaml.property("annotated", match.annotated(), none.annotated());
            });
        }
    }

    private void write(PolicyProperties.OnExceeded onExceeded) {
        PolicyProperties.OnExceeded none = DEFAULT.onExceeded();
        if (!onExceeded.equals(none)) {
            yaml.group("on-exceeded", () -> {
                yaml.property("action", onExceeded.action(), none.action());
                yaml.property("max-wait", onExceeded.maxWait(), null);
                yaml.property("queue", onExceeded.queue(), null);
                yaml.property("order", onExceeded.order(), null);
                yaml.property("delay", onExceeded.delay(), null);
                yaml.property("delayed", onExceeded.delayed(), null);
            });
        }
    }

    private void write(RateLimitProperties.Response response) {
        if (!response.equals(DEFAULT.response())) {
            yaml.group("response", () -> {
                yaml.property("status", response.status(), null);
                yaml.property("body", response.body(), null);
                yaml.property("detail", response.detail(), null);
                yaml.property("content", response.content(), null);
                yaml.property("content-type", response.contentType(), null);
            });
        }
    }

    private void write(PolicyProperties.Jitter jitter) {
        PolicyProperties.Jitter none = DEFAULT.retryJitter();
        if (!jitter.equals(none)) {
            yaml.group("retry-jitter", () -> {
                yaml.property("min", jitter.min(), none.min());
                yaml.property("max", jitter.max(), none.max());
            });
        }
    }

    private void plans(Map<String, PolicyProperties.Plan> plans) {
        if (!plans.isEmpty()) {
            yaml.group(
                    "plans",
                    () -> plans.forEach((name, plan) -> yaml.entry(name, () -> {
                        yaml.property("limit", plan.limit(), null);
                        yaml.property("burst", plan.burst(), null);
                        yaml.property("zone", plan.zone(), null);
                    })));
        }
    }

    private void overrides(Map<String, String> overrides) {
        if (!overrides.isEmpty() && !showKeys) {
            yaml.comment("overrides: leave those of the configuration; " + overrides.size()
                    + " are hidden because of management.endpoint.ratelimits.show-keys");
        } else if (!overrides.isEmpty()) {
            yaml.property("overrides", overrides, DEFAULT.overrides());
        }
    }
}
