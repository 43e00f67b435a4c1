package dev.ratelimit.spring.rules.instances;

import static dev.ratelimit.spring.rules.text.UrlEncoding.decoded;
import static dev.ratelimit.spring.rules.text.UrlEncoding.encoded;

import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.traffic.FrequentKeys.Frequent;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What an instance has counted, as it tells others. Immutable.
 *
 * @param since when it began to count
 * @param clockMinute the current minute, counted from the epoch
 * @param keys whether it tells the most refused keys
 * @param omitted how many policies it leaves out, those with the fewest requests; before them, the keys and endpoints of
 *     others are left out
 */
public record CountsSummary(
        Instant since, long clockMinute, boolean keys, int omitted, Map<String, OfPolicy> policies) {

    /** How many keys and endpoints of a policy are told. */
    static final int KEPT = 20;

    /** The size of a text; policies that would make it longer are left out. */
    static final int MAX_LENGTH = 64 * 1024;

    /** More than the head of a text takes. */
    private static final int MAX_HEAD = 100;

    /** More than anybody has counted, and a hundred of them can be added. */
    private static final long MAX_COUNT = 1L << 53;

    private static final String KEY = "key";
    private static final String ENDPOINT = "endpoint";

    /**
     * The requests under a policy.
     *
     * @param counts since the start, by outcome; none that is 0
     * @param history in each of the last minutes, the current one last, of the same outcomes
     * @param keys that were refused most
     * @param endpoints at which most was refused
     */
    record OfPolicy(
            Map<String, Long> counts, Map<String, long[]> history, List<Frequent> keys, List<Frequent> endpoints) {

        private static OfPolicy empty() {
            return new OfPolicy(new LinkedHashMap<>(), new LinkedHashMap<>(), new ArrayList<>(), new ArrayList<>());
        }

        private static OfPolicy of(Traffic traffic, String policy, boolean keys) {
            Map<String, Long> counts = new LinkedHashMap<>(traffic.counts(policy));
            counts.values().removeIf(count -> count == 0);
            Map<String, long[]> history = new LinkedHashMap<>(traffic.history(policy));
            history.keySet().retainAll(counts.keySet());
            return new OfPolicy(
                    counts,
                    history,
                    keys ? traffic.mostRefused(policy) : List.of(),
                    traffic.mostRefusedEndpoints(policy));
        }

        private long requests() {
            return counts.values().stream().mapToLong(count -> count).sum();
        }

        private long lastHour() {
            return history.values().stream().flatMapToLong(Arrays::stream).sum();
        }

        private String lines(String policy) {
            String name = encoded(policy) + " ";
            StringBuilder lines = new StringBuilder();
            counts.forEach((outcome, count) -> lines.append(name)
                    .append(outcome)
                    .append(' ')
                    .append(count)
                    .append(' ')
                    .append(minutes(history.get(outcome)))
                    .append('\n'));
            return lines.toString();
        }

        private String mostRefused(String policy) {
            String name = encoded(policy) + " ";
            StringBuilder lines = new StringBuilder();
            keys.stream().limit(KEPT).forEach(one -> lines.append(line(name + KEY, one)));
            endpoints.stream().limit(KEPT).forEach(one -> lines.append(line(name + ENDPOINT, one)));
            return lines.toString();
        }

        private static String line(String begin, Frequent one) {
            return begin + " " + encoded(one.key()) + " " + one.count() + " " + one.lost() + "\n";
        }

        /** Without those before the first request. */
        private static String minutes(long @Nullable [] requests) {
            return requests == null
                    ? "0"
                    : Arrays.stream(requests)
                            .dropWhile(count -> count == 0)
                            .mapToObj(Long::toString)
                            .collect(Collectors.joining(","));
        }
    }

    /** What this instance has counted, all of it. */
    public static CountsSummary of(Traffic traffic, boolean keys) {
        return traffic.withinAMinute(() -> {
            Map<String, OfPolicy> policies = new HashMap<>();
            traffic.policies().forEach(policy -> policies.put(policy, OfPolicy.of(traffic, policy, keys)));
            return new CountsSummary(traffic.since(), traffic.clockMinute(), keys, 0, policies);
        });
    }

    /** A head, and a line for each outcome, key and endpoint of a policy, the busiest policies first. */
    @Override
    public String toString() {
        StringBuilder lines = new StringBuilder();
        int left = 0;
        List<Map.Entry<String, OfPolicy>> busiest = policies.entrySet().stream()
                .filter(entry -> entry.getValue().requests() > 0)
                .sorted(Map.Entry.<String, OfPolicy>comparingByValue(
                                Comparator.comparingLong(OfPolicy::lastHour).thenComparingLong(OfPolicy::requests))
                        .reversed())
                .toList();
        for (Map.Entry<String, OfPolicy> one : busiest) {
            String more = one.getValue().lines(one.getKey());
            if (left > 0 || !fits(lines, more)) {
                left++;
            } else {
                lines.append(more);
            }
        }
        for (Map.Entry<String, OfPolicy> one : busiest.subList(0, busiest.size() - left)) {
            String more = one.getValue().mostRefused(one.getKey());
            lines.append(fits(lines, more) ? more : "");
        }
        return since.toEpochMilli() + " " + clockMinute + " " + keys + " " + (omitted + left) + "\n" + lines;
    }

    private static boolean fits(StringBuilder lines, String more) {
        return MAX_HEAD + lines.length() + more.length() <= MAX_LENGTH;
    }

    /**
     * Reads {@link #toString}. Outcomes that this version does not know are kept.
     *
     * @throws IllegalArgumentException if the text is another one
     */
    public static CountsSummary parse(String text) {
        Map<String, OfPolicy> policies = new HashMap<>();
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("not a summary: it has " + text.length() + " characters");
        }
        List<String> lines = text.lines().toList();
        try {
            String[] head = lines.get(0).split(" ", -1);
            for (String line : lines.subList(1, lines.size())) {
                String[] parts = line.split(" ", -1);
                read(parts, policies.computeIfAbsent(decoded(parts[0]), name -> OfPolicy.empty()));
            }
            return new CountsSummary(
                    Instant.ofEpochMilli(Long.parseLong(head[0])),
                    Long.parseLong(head[1]),
                    Boolean.parseBoolean(head[2]),
                    Integer.parseInt(head[3]),
                    policies);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("not a summary: " + Quotation.of(text), e);
        }
    }

    private static void read(String[] parts, OfPolicy policy) {
        switch (parts[1]) {
            case KEY -> policy.keys().add(frequent(parts));
            case ENDPOINT -> policy.endpoints().add(frequent(parts));
            default -> {
                policy.counts().put(parts[1], count(parts[2]));
                policy.history().put(parts[1], history(parts[3]));
            }
        }
    }

    private static Frequent frequent(String[] parts) {
        return new Frequent(decoded(parts[2]), count(parts[3]), count(parts[4]));
    }

    private static long count(String text) {
        long count = Long.parseLong(text);
        if (count < 0 || count > MAX_COUNT) {
            throw new IllegalArgumentException("not a count: " + count);
        }
        return count;
    }

    private static long[] history(String minutes) {
        long[] told = minutes.isEmpty()
                ? new long[0]
                : Arrays.stream(minutes.split(",", -1))
                        .mapToLong(CountsSummary::count)
                        .toArray();
        long[] hour = new long[Traffic.MINUTES];
        System.arraycopy(told, 0, hour, hour.length - told.length, told.length);
        return hour;
    }
}
