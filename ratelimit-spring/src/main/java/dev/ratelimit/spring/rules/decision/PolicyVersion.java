package dev.ratelimit.spring.rules.decision;

import dev.ratelimit.Limit;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitChange;
import dev.ratelimit.spring.rules.rule.LimitOverride;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * What operators can change of a policy, as it is in force. Instances on which it is the same have the same version.
 * Immutable.
 *
 * @param limits the limits of keys without an override or a plan; empty if they are unlimited or blocked
 * @param limit the same for people
 * @param mode whether the policy is applied
 * @param more what else there is of it, for people, such as {@code , waits up to 4s (at most 100 requests), plan pro
 *     600/minute}; empty for nothing
 * @param change what operators have changed; {@code null} for nothing
 */
public record PolicyVersion(
        List<Limit> limits,
        String limit,
        Mode mode,
        String more,
        @Nullable RateLimitChange change) {

    /** What is in force of a rule. */
    static PolicyVersion of(Rule rule, Mode mode, @Nullable RateLimitChange change) {
        StringBuilder more = new StringBuilder(rule.onExceeded().toString());
        rule.overrides()
                .plans()
                .forEach((plan, limits) -> more.append(", plan ")
                        .append(plan)
                        .append(" ")
                        .append(
                                limits instanceof LimitOverride.Limited limited
                                        ? text(limited.policy().limits())
                                        : PropertyName.of((LimitOverride.Fixed) limits)));
        List<String> paths = change == null ? null : change.paths();
        if (paths != null) {
            more.append(", on ").append(String.join(", ", paths));
        }
        return new PolicyVersion(
                rule.fixed() == null ? rule.policy().limits() : List.of(),
                String.join("; ", rule.limits()),
                mode,
                more.toString(),
                change);
    }

    private static String text(List<Limit> limits) {
        return limits.stream().map(Limit::toString).collect(Collectors.joining("; "));
    }

    /**
     * Its identity: another one whenever something differs.
     *
     * @param changed what operators have changed, with ends and reasons
     */
    public String id(String changed) {
        return checksum(this + Objects.toString(change, "") + changed);
    }

    /** Eight hexadecimal digits that differ if two texts do. */
    public static String checksum(String text) {
        CRC32 checksum = new CRC32();
        checksum.update(text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().toHexDigits((int) checksum.getValue());
    }

    /**
     * Checks that this is the expected version.
     *
     * @param expected {@code null} for any
     * @param changed as for {@link #id}
     * @throws StaleVersionException if it is another one
     */
    public void require(@Nullable String expected, String changed) {
        if (expected != null && !expected.equals(id(changed))) {
            throw new StaleVersionException("the policy was changed meanwhile, and is " + this + " now", id(changed));
        }
    }

    /** For people: {@code 100/minute (token-bucket), mode enforce}. */
    @Override
    public String toString() {
        return limit + ", mode " + PropertyName.of(mode) + more;
    }
}
