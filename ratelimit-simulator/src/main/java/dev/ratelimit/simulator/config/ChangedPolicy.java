package dev.ratelimit.simulator.config;

import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Policies of a configuration that are tried out in another form. */
public final class ChangedPolicy {

    private ChangedPolicy() {}

    /** The same policy in another mode. */
    public static PolicyProperties inMode(PolicyProperties policy, Mode mode) {
        return new PolicyProperties(
                policy.limit(),
                policy.algorithm(),
                policy.concurrency(),
                policy.maxHold(),
                policy.burst(),
                policy.refill(),
                policy.align(),
                policy.zone(),
                policy.rounding(),
                policy.penalty(),
                policy.key(),
                policy.missingKey(),
                policy.match(),
                policy.permits(),
                mode,
                policy.onExceeded(),
                policy.response(),
                policy.count(),
                policy.free(),
                policy.plans(),
                policy.planResolver(),
                policy.overrides(),
                policy.retryJitter(),
                policy.stage(),
                policy.onStoreFailure(),
                policy.maxKeys());
    }

    /**
     * The same policy with another limit, for all keys without a plan or an override. Options of another algorithm go.
     *
     * @param burst {@code null} for the permits of one period
     */
    public static PolicyProperties withLimit(
            PolicyProperties policy, String limit, String algorithm, @Nullable Long burst) {
        boolean same = algorithm.equals(policy.algorithm());
        return new PolicyProperties(
                List.of(limit),
                algorithm,
                policy.concurrency(),
                policy.maxHold(),
                burst,
                same ? policy.refill() : null,
                same ? policy.align() : null,
                same ? policy.zone() : null,
                same ? policy.rounding() : null,
                policy.penalty(),
                policy.key(),
                policy.missingKey(),
                policy.match(),
                policy.permits(),
                policy.mode(),
                policy.onExceeded(),
                policy.response(),
                policy.count(),
                policy.free(),
                policy.plans(),
                policy.planResolver(),
                policy.overrides(),
                policy.retryJitter(),
                policy.stage(),
                policy.onStoreFailure(),
                policy.maxKeys());
    }
}
