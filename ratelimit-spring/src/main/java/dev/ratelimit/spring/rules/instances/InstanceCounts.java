package dev.ratelimit.spring.rules.instances;

import dev.ratelimit.spring.rules.traffic.Traffic;
import dev.ratelimit.spring.rules.traffic.TrafficCounts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts as they are shown, and of which instances they are.
 *
 * @param counts {@code null} if requests are not counted
 * @param instances for JSON
 */
public record InstanceCounts(@Nullable TrafficCounts counts, Map<String, Object> instances) {

    /** Instances tell a summary every few seconds; so one that has told none for this long has stopped or hangs. */
    private static final long LATE_MILLIS = 15_000;

    /** Those of this instance alone. */
    public static InstanceCounts ofThis(@Nullable Traffic own, @Nullable SharedCounts shared) {
        Map<String, Object> instances = new LinkedHashMap<>();
        instances.put("counts", "this");
        if (own != null && shared != null) {
            instances.put("running", shared.running());
        }
        return new InstanceCounts(own, instances);
    }

    /**
     * Those of all instances together; of this one alone if nothing is shared, or if nobody can be asked.
     *
     * @param keys whether this instance tells others which keys were refused most
     */
    public static InstanceCounts ofAll(@Nullable Traffic own, @Nullable SharedCounts shared, boolean keys) {
        InstanceCounts mine = ofThis(own, shared);
        if (own == null || shared == null) {
            return mine;
        }
        List<SharedCounts.Told> others;
        try {
            others = shared.others();
        } catch (IllegalStateException e) {
            mine.instances.put("error", String.valueOf(e.getMessage()));
            return mine;
        }
        SummedCounts sum = new SummedCounts(
                own,
                keys,
                others.stream()
                        .map(SharedCounts.Told::summary)
                        .filter(summary -> summary != null)
                        .toList());
        return new InstanceCounts(sum, describe(shared, others, sum));
    }

    private static Map<String, Object> describe(SharedCounts shared, List<SharedCounts.Told> others, SummedCounts sum) {
        List<String> summed = new ArrayList<>(List.of(shared.name()));
        List<String> missing = new ArrayList<>();
        Map<String, Long> late = new TreeMap<>();
        int omitted = 0;
        for (SharedCounts.Told one : others) {
            CountsSummary summary = one.summary();
            (summary == null ? missing : summed).add(one.name());
            omitted += summary == null ? 0 : summary.omitted();
            if (one.ageMillis() > LATE_MILLIS) {
                late.put(one.name(), one.ageMillis() / 1000);
            }
        }
        // the same, whichever instance answers
        Collections.sort(summed);
        Collections.sort(missing);
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("counts", "all");
        map.put("running", shared.running());
        map.put("summed", summed);
        map.put("missing", missing);
        map.put("late", late);
        map.put("keys", sum.haveKeys() ? "all" : "this");
        if (omitted > 0) {
            map.put("omittedPolicies", omitted);
        }
        return map;
    }
}
