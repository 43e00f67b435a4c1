package dev.ratelimit.spring.rules.instances;

import dev.ratelimit.spring.rules.instances.CountsSummary.OfPolicy;
import dev.ratelimit.spring.rules.traffic.FrequentKeys.Frequent;
import dev.ratelimit.spring.rules.traffic.Traffic;
import dev.ratelimit.spring.rules.traffic.TrafficCounts;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The counts of several instances together. The minutes of histories are those of the clock, so they are added as they are; an
 * instance that has told its summary before the current minute began has had no requests in it yet. Immutable but for this
 * instance's time.
 */
final class SummedCounts implements TrafficCounts {

    private static final Comparator<Frequent> MOST_FIRST =
            Comparator.comparingLong(Frequent::count).reversed().thenComparing(Frequent::key);

    private final Traffic own;
    private final CountsSummary mine;

    /** Mine, and those of others. */
    private final List<CountsSummary> all;

    SummedCounts(Traffic own, boolean keys, List<CountsSummary> others) {
        this.own = own;
        this.mine = CountsSummary.of(own, keys);
        this.all = Stream.concat(Stream.of(mine), others.stream()).toList();
    }

    /** Whether the most refused keys are those of all, which only keys that everybody may see are. */
    boolean haveKeys() {
        return all.stream().allMatch(CountsSummary::keys);
    }

    @Override
    public Map<String, Object> times() {
        Instant since = all.stream()
                .map(CountsSummary::since)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        Map<String, Object> times = new LinkedHashMap<>(own.times());
        times.put("since", since.toString());
        return times;
    }

    @Override
    public Map<String, Long> counts(String policy) {
        Map<String, Long> sum = new LinkedHashMap<>(own.counts(policy));
        sum.replaceAll((outcome, count) -> 0L);
        of(policy).forEach(one -> one.counts().forEach((outcome, count) -> sum.merge(outcome, count, Long::sum)));
        return sum;
    }

    @Override
    public Map<String, long[]> history(String policy) {
        Map<String, long[]> sum = new LinkedHashMap<>(own.history(policy));
        sum.replaceAll((outcome, minutes) -> new long[Traffic.MINUTES]);
        for (CountsSummary one : all) {
            OfPolicy told = one.policies().get(policy);
            // of another difference, a clock is the reason
            int late = mine.clockMinute() - one.clockMinute() == 1 ? 1 : 0;
            if (told != null) {
                told.history()
                        .forEach((outcome, minutes) ->
                                add(minutes, late, sum.computeIfAbsent(outcome, name -> new long[Traffic.MINUTES])));
            }
        }
        return sum;
    }

    private static void add(long[] minutes, int late, long[] sum) {
        for (int i = late; i < sum.length; i++) {
            sum[i - late] += minutes[i];
        }
    }

    @Override
    public List<Frequent> mostRefused(String policy) {
        return haveKeys() ? sum(policy, OfPolicy::keys) : own.mostRefused(policy);
    }

    @Override
    public List<Frequent> mostRefusedEndpoints(String policy) {
        return sum(policy, OfPolicy::endpoints);
    }

    private List<Frequent> sum(String policy, Function<OfPolicy, List<Frequent>> part) {
        List<List<Frequent>> lists = of(policy).map(part).toList();
        Map<String, Long> counts = new HashMap<>();
        Map<String, Long> lost = new HashMap<>();
        long unlisted = lists.stream().mapToLong(SummedCounts::unlisted).sum();
        for (List<Frequent> list : lists) {
            for (Frequent one : list) {
                counts.merge(one.key(), one.count(), Long::sum);
                lost.merge(one.key(), one.lost() - unlisted(list), Long::sum);
            }
        }
        return counts.entrySet().stream()
                .map(entry -> new Frequent(
                        entry.getKey(), entry.getValue(), unlisted + lost.getOrDefault(entry.getKey(), 0L)))
                .sorted(MOST_FIRST)
                .limit(2 * Traffic.FREQUENT)
                .toList();
    }

    /** The maximum for one that is not in a list, which may have been cut. */
    private static long unlisted(List<Frequent> list) {
        if (list.isEmpty()) {
            return 0;
        }
        Frequent last = list.get(list.size() - 1);
        return list.size() < CountsSummary.KEPT ? last.lost() : last.lost() + last.count();
    }

    private Stream<OfPolicy> of(String policy) {
        return all.stream().map(one -> one.policies().get(policy)).filter(one -> one != null);
    }
}
