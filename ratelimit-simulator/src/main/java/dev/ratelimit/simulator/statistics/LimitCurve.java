package dev.ratelimit.simulator.statistics;

import dev.ratelimit.Policy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What other limits in place of a policy's would do, if it were the only policy.
 *
 * @param policy its name
 * @param candidates from the strictest to the most generous
 * @param now the index of the limit that the policy has
 */
public record LimitCurve(String policy, List<Candidate> candidates, int now) {

    /**
     * A limit.
     *
     * @param limits such as {@code 60/minute}, burst 80
     * @param permits each period
     * @param touched how many keys it refuses
     * @param keys how many keys there are
     * @param refused how many requests it refuses
     * @param requests how many requests there are
     * @param peak the most permits that it admits in a period, of all keys together
     */
    public record Candidate(
            Policy limits, long permits, long touched, long keys, long refused, long requests, long peak) {

        /** The limit for readers. */
        public String text() {
            return String.join(
                    "; ", limits.limits().stream().map(Object::toString).toList());
        }
    }

    /** The curve of a policy; {@code null} if there is none. */
    public static @Nullable LimitCurve of(List<LimitCurve> curves, String policy) {
        return curves.stream()
                .filter(curve -> curve.policy.equals(policy))
                .findFirst()
                .orElse(null);
    }
}
