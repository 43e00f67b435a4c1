package dev.ratelimit.benchmarks.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The measurements of all rounds, and their medians as a Markdown table. */
final class Report {

    private final Map<Line, List<Measurement>> rounds = new LinkedHashMap<>();

    private record Line(Entry entry, int callers) {}

    /** Called once per round for each contender and number of callers. */
    void add(Entry entry, int callers, Measurement measurement) {
        rounds.computeIfAbsent(new Line(entry, callers), line -> new ArrayList<>())
                .add(measurement);
    }

    String table(List<Entry> entries, List<Integer> callers) {
        StringBuilder table = new StringBuilder("""
                | contender | callers | decisions/s | of GET | p50 µs | p99 µs | Redis CPU µs | client CPU µs | commands | others |
                |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
                """);
        for (int number : callers) {
            for (Entry entry : entries) {
                table.append(row(new Line(entry, number)));
            }
        }
        return table.toString();
    }

    private String row(Line line) {
        List<Measurement> all = rounds.getOrDefault(line, List.of());
        List<Double> ratios = ratios(all, rounds.getOrDefault(new Line(Entry.GET, line.callers), List.of()));
        return String.format(
                Locale.ROOT,
                "| %s | %d | %,.0f | %.2f (%.2f–%.2f) | %.0f | %.0f | %.1f | %.1f | %.2f | %.2f |%n",
                line.entry.name(),
                line.callers,
                median(all, Measurement::perSecond),
                median(ratios, ratio -> ratio),
                ratios.stream().mapToDouble(ratio -> ratio).min().orElseThrow(),
                ratios.stream().mapToDouble(ratio -> ratio).max().orElseThrow(),
                median(all, Measurement::p50Micros),
                median(all, Measurement::p99Micros),
                median(all, Measurement::serverCpuMicros),
                median(all, Measurement::clientCpuMicros),
                median(all, Measurement::commands),
                median(all, Measurement::othersCores));
    }

    private static List<Double> ratios(List<Measurement> measured, List<Measurement> floors) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < measured.size(); round++) {
            ratios.add(measured.get(round).perSecond() / floors.get(round).perSecond());
        }
        return ratios;
    }

    private static <T> double median(List<T> all, ToDoubleFunction<T> number) {
        double[] sorted = all.stream().mapToDouble(number).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
