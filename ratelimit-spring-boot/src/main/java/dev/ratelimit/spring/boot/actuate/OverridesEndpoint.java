package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.rules.override.KeyOverrides;
import dev.ratelimit.spring.rules.override.OverrideReport;
import dev.ratelimit.spring.rules.rule.Rule;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** The part of the endpoint under {@code {policy}/overrides}: overrides of single keys. */
public record OverridesEndpoint(OverrideReport report) {

    /** The policy whose overrides the rest of the path names; {@code null} if it names something else. */
    static @Nullable String policyOf(@Nullable String name) {
        return name != null && name.endsWith(Rule.OVERRIDES)
                ? name.substring(0, name.length() - Rule.OVERRIDES.length())
                : null;
    }

    Map<String, Object> list(String policy, boolean showKeys) {
        return report.of(policy, showKeys);
    }

    /**
     * Sets the override of a key.
     *
     * @param fields of {@link WrittenOverride}
     */
    Map<String, Object> set(String policy, SentArguments fields, boolean showKeys) {
        WrittenOverride written = new WrittenOverride(fields::only);
        KeyOverrides.Replaced replaced =
                report.overrides().set(policy, written.key(), written.override(), written.version());
        return report.set(replaced, showKeys);
    }

    /** Ends the override of a key, of this version. */
    Map<String, Object> remove(String policy, List<String> keys, @Nullable String version) {
        if (keys.size() != 1) {
            throw new IllegalArgumentException("the overrides of a policy have one key each; write ?key=alice");
        }
        KeyOverrides.Replaced removed = report.overrides().remove(policy, keys.get(0), version);
        if (removed == null) {
            throw new NoSuchElementException("this key has no override; GET shows those of the policy");
        }
        return report.removed(removed);
    }
}
