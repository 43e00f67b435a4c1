package dev.ratelimit.simulator.config;

import dev.ratelimit.simulator.recording.RecordedCharge;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.key.MissingKey;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.rule.Stage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A policy of a configuration that is tried out in another form. Not thread-safe. */
public final class ChangedPolicy {

    private final PolicyProperties from;
    private @Nullable List<String> limit;
    private String algorithm;
    private @Nullable Long burst;

    /** Whether the options of the algorithm stay. */
    private boolean keepsOptions = true;

    private List<String> key;
    private MissingKey missingKey;
    private PolicyProperties.Match match;
    private String permits;
    private Mode mode;
    private Map<String, PolicyProperties.Plan> plans;
    private @Nullable String planResolver;
    private Map<String, String> overrides;
    private Stage stage;

    private ChangedPolicy(PolicyProperties from) {
        this.from = from;
        this.limit = from.limit();
        this.algorithm = from.algorithm();
        this.burst = from.burst();
        this.key = from.key();
        this.missingKey = from.missingKey();
        this.match = from.match();
        this.permits = from.permits();
        this.mode = from.mode();
        this.plans = from.plans();
        this.planResolver = from.planResolver();
        this.overrides = from.overrides();
        this.stage = from.stage();
    }

    private PolicyProperties properties() {
        return new PolicyProperties(
                limit,
                algorithm,
                from.concurrency(),
                from.maxHold(),
                burst,
                keepsOptions ? from.refill() : null,
                keepsOptions ? from.align() : null,
                keepsOptions ? from.zone() : null,
                keepsOptions ? from.rounding() : null,
                from.penalty(),
                key,
                missingKey,
                match,
                permits,
                mode,
                from.onExceeded(),
                from.response(),
                from.count(),
                from.free(),
                plans,
                planResolver,
                overrides,
                from.retryJitter(),
                stage,
                from.onStoreFailure(),
                from.maxKeys());
    }

    /** The same policy in another mode. */
    public static PolicyProperties inMode(PolicyProperties policy, Mode mode) {
        ChangedPolicy changed = new ChangedPolicy(policy);
        changed.mode = mode;
        return changed.properties();
    }

    /**
     * The same policy with another limit, for all keys without a plan or an override. Options of another algorithm go.
     *
     * @param burst {@code null} for the permits of one period
     */
    public static PolicyProperties withLimit(
            PolicyProperties policy, String limit, String algorithm, @Nullable Long burst) {
        ChangedPolicy changed = new ChangedPolicy(policy);
        changed.limit = List.of(limit);
        changed.keepsOptions = algorithm.equals(policy.algorithm());
        changed.algorithm = algorithm;
        changed.burst = burst;
        return changed.properties();
    }

    /** The same policy whose plans another bean resolves. */
    static PolicyProperties withPlanResolver(PolicyProperties policy, String bean) {
        ChangedPolicy changed = new ChangedPolicy(policy);
        changed.planResolver = bean;
        return changed.properties();
    }

    /** A policy that an annotation has written out, as it was recorded. */
    static PolicyProperties annotated(Recording.Policy recorded) {
        ChangedPolicy changed = new ChangedPolicy(PolicyProperties.of(recorded.limit()));
        changed.algorithm = recorded.algorithm();
        changed.burst = recorded.burst();
        changed.key = recorded.key();
        changed.match = match(null, true);
        return changed.properties();
    }

    /**
     * The same policy for requests that were recorded: whom it concerns, whose budget it is, what it costs and by which plan
     * is what the application has found out.
     *
     * @param name of the policy
     * @param rule of the policy
     * @param recorded what the application had of it
     */
    static PolicyProperties asRecorded(PolicyProperties policy, String name, Rule rule, Recording.Policy recorded) {
        ChangedPolicy changed = new ChangedPolicy(policy);
        String presence = attribute(RecordedCharge.presence(name)) + " != null";
        changed.match = match(presence, false);
        if (!rule.key().parts().isEmpty()) {
            changed.key = List.of(attribute(RecordedCharge.key(name)));
        }
        changed.missingKey = rule.key().missing() == MissingKey.REJECT ? MissingKey.REJECT : MissingKey.SKIP;
        boolean sameExpression = recorded.permits().startsWith("#")
                && recorded.permits().equals(rule.cost().written());
        if (recorded.annotated() || sameExpression) {
            changed.permits = attribute(RecordedCharge.permits(name));
        }
        changed.plans = new LinkedHashMap<>(policy.plans());
        recorded.overrides().forEach(override -> changed.plans.put(Recording.Policy.planOf(override), plan(override)));
        changed.planResolver = changed.plans.isEmpty() ? null : RecordedCharge.planResolver(name);
        changed.overrides = Map.of();
        changed.stage = rule.stage();
        return changed.properties();
    }

    /** Such as {@code 100/minute burst 200}, or {@code unlimited}. */
    private static PolicyProperties.Plan plan(String override) {
        String[] parts = override.split(" burst ", 2);
        return new PolicyProperties.Plan(parts[0], parts.length == 1 ? null : Long.valueOf(parts[1]), null);
    }

    private static PolicyProperties.Match match(@Nullable String when, boolean annotated) {
        return new PolicyProperties.Match(List.of(), List.of(), List.of(), when, annotated);
    }

    private static String attribute(String name) {
        return "#request.getAttribute('" + name.replace("'", "''") + "')";
    }
}
