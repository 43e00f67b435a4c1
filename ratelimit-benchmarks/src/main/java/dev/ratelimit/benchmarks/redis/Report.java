package dev.ratelimit.benchmarks.redis;

import dev.ratelimit.benchmarks.report.ScaleBenchmark;
import dev.ratelimit.benchmarks.report.Table;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The measurements of all rounds, and their medians as tables. */
final class Report {

    private static final List<String> HEADER = List.of(
            "contender",
            "decisions/s",
            "of GET",
            "p50 µs",
            "p99 µs",
            "p99 of GET",
            "Redis CPU µs",
            "client CPU µs",
            "commands",
            "others");

    private final Map<Line, List<Measurement>> rounds = new LinkedHashMap<>();

    private record Line(Entry entry, int callers) {}

    /** Called once per round for each contender and number of callers. */
    void add(Entry entry, int callers, Measurement measurement) {
        rounds.computeIfAbsent(new Line(entry, callers), line -> new ArrayList<>())
                .add(measurement);
    }

    /** A table of all numbers for each number of callers, and how decisions per second grow with the callers. */
    List<Table> tables(List<Entry> entries, List<Integer> callers) {
        List<Table> tables = new ArrayList<>();
        for (int number : callers) {
            List<List<String>> rows =
                    entries.stream().map(entry -> row(new Line(entry, number))).toList();
            tables.add(new Table(number + (number == 1 ? " caller" : " callers"), HEADER, rows));
        }
        List<String> header = new ArrayList<>(List.of("callers"));
        entries.forEach(entry -> header.add(entry.name() + ": per second"));
        tables.add(new Table(
                ScaleBenchmark.TITLE + "callers on Redis",
                header,
                callers.stream().map(number -> perSecond(entries, number)).toList()));
        return tables;
    }

    private List<String> perSecond(List<Entry> entries, int callers) {
        List<String> row = new ArrayList<>(List.of(Integer.toString(callers)));
        for (Entry entry : entries) {
            row.add(number("%,.0f", median(measured(entry, callers), Measurement::perSecond)));
        }
        return row;
    }

    private List<Measurement> measured(Entry entry, int callers) {
        return rounds.getOrDefault(new Line(entry, callers), List.of());
    }

    private List<String> row(Line line) {
        List<Measurement> all = measured(line.entry, line.callers);
        List<Double> ratios = ratios(all, measured(Entry.GET, line.callers), Measurement::perSecond);
        List<Double> latencies = ratios(all, measured(Entry.GET, line.callers), Measurement::p99Micros);
        return List.of(
                line.entry.name(),
                number("%,.0f", median(all, Measurement::perSecond)),
                spread(ratios),
                number("%.0f", median(all, Measurement::p50Micros)),
                number("%.0f", median(all, Measurement::p99Micros)),
                spread(latencies),
                number("%.1f", median(all, Measurement::serverCpuMicros)),
                number("%.1f", median(all, Measurement::clientCpuMicros)),
                number("%.2f", median(all, Measurement::commands)),
                number("%.2f", median(all, Measurement::othersCores)));
    }

    private static String spread(List<Double> ratios) {
        DoubleSummaryStatistics all =
                ratios.stream().mapToDouble(ratio -> ratio).summaryStatistics();
        return String.format(
                Locale.ROOT, "%.2f (%.2f–%.2f)", median(ratios, ratio -> ratio), all.getMin(), all.getMax());
    }

    private static String number(String format, double number) {
        return String.format(Locale.ROOT, format, number);
    }

    private static List<Double> ratios(
            List<Measurement> measured, List<Measurement> floors, ToDoubleFunction<Measurement> number) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < measured.size(); round++) {
            ratios.add(number.applyAsDouble(measured.get(round)) / number.applyAsDouble(floors.get(round)));
        }
        return ratios;
    }

    private static <T> double median(List<T> all, ToDoubleFunction<T> number) {
        double[] sorted = all.stream().mapToDouble(number).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
