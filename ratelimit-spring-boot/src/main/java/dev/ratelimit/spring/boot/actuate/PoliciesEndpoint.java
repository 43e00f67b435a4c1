package dev.ratelimit.spring.boot.actuate;

import dev.ratelimit.spring.rules.operation.KeyBudgets;
import dev.ratelimit.spring.rules.operation.LiveChanges;
import dev.ratelimit.spring.rules.operation.PolicyReport;
import dev.ratelimit.spring.rules.operation.RefreshedConfiguration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The part of the endpoint about policies, their changes and the budgets of their keys. */
public record PoliciesEndpoint(
        PolicyReport report,
        LiveChanges changes,
        KeyBudgets budgets,
        RefreshedConfiguration configuration,
        EndpointSurroundings surroundings) {

    Map<String, Object> list(boolean showKeys) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("instance", surroundings.instance());
        all.put("writable", surroundings.writable());
        all.put("changesLast", changes.duration());
        all.put("recorded", report.traffic().times());
        Map<String, Object> refused = configuration.refused();
        if (refused != null) {
            all.put("refusedConfiguration", refused);
        }
        all.put("store", surroundings.store().get());
        all.put("policies", report.all(showKeys));
        all.put("extra", report.extra());
        return all;
    }

    /**
     * A policy, or the state of a key under it.
     *
     * @param key the plain value of each part; {@code null} for the policy
     */
    Map<String, Object> read(String policy, @Nullable List<String> key, boolean showKeys) {
        return key == null ? report.of(policy, showKeys) : budgets.report(policy, key, showKeys);
    }

    /**
     * Changes a policy, or tells what a change would make of it.
     *
     * @param fields of {@link WrittenChange}
     */
    Map<String, Object> change(String policy, SentArguments fields, boolean showKeys) {
        WrittenChange written = new WrittenChange(fields::only);
        LiveChanges.Edit edit = new LiveChanges.Edit(written.change(), written.isTrue("restore"), written.version());
        return written.isTrue("dryRun")
                ? report.preview(policy, edit, showKeys)
                : report.changed(changes.change(policy, edit), showKeys);
    }

    /** Gives a key its full budget. */
    Map<String, Object> reset(String policy, List<String> key) {
        if (!budgets.reset(policy, key)) {
            throw new IllegalStateException(
                    "the store does not answer; the key is not reset, unless the store has received that. Look at the"
                            + " key before you try again");
        }
        return Map.of();
    }
}
