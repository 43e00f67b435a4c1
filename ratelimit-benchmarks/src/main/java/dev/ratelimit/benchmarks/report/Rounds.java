package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The measurements of scenarios, round by round. In a round, each contender of a scenario has one JVM, one after
 * another in a different order per round, so that a busy minute of the machine does not always affect the same
 * contender.
 */
final class Rounds {

    private final Plan plan;
    private final Random random = new Random();
    private final Map<Line, List<Measured>> measured = new LinkedHashMap<>();

    private record Line(Scenario scenario, String contender) {}

    Rounds(Plan plan) {
        this.plan = plan;
    }

    /** Runs one more round. */
    void run(List<Scenario> scenarios) {
        for (Scenario scenario : scenarios) {
            List<String> contenders = new ArrayList<>(scenario.contenders().names());
            Collections.shuffle(contenders, random);
            for (String contender : contenders) {
                Measured one = Measured.of(scenario, contender, plan);
                of(scenario, contender).add(one);
                System.err.printf(
                        Locale.ROOT,
                        "%s: %s: %.1f ns, %.1f ns CPU, %.1f B; others %.2f%n",
                        scenario.name(),
                        Names.plain(contender),
                        one.nanos(),
                        one.cpuNanos(),
                        one.bytes(),
                        one.othersCores());
            }
        }
    }

    /** One measurement per round. */
    List<Measured> of(Scenario scenario, String contender) {
        return measured.computeIfAbsent(new Line(scenario, contender), line -> new ArrayList<>());
    }

    Table table(Scenario scenario) {
        Scenario.Contenders contenders = scenario.contenders();
        List<String> header = List.of(
                "contender",
                "ns/op",
                "lowest–highest",
                "of " + Names.plain(contenders.floor()),
                "of ratelimit",
                "CPU ns/op",
                "CPU of " + Names.plain(contenders.floor()),
                "B/op",
                "others");
        return new Table(
                scenario.name(),
                header,
                contenders.names().stream()
                        .map(contender -> row(scenario, contender))
                        .toList());
    }

    private List<String> row(Scenario scenario, String contender) {
        List<Measured> all = of(scenario, contender);
        Scenario.Contenders contenders = scenario.contenders();
        DoubleSummaryStatistics nanos =
                all.stream().mapToDouble(Measured::nanos).summaryStatistics();
        return List.of(
                Names.plain(contender),
                number(median(all, Measured::nanos)),
                number(nanos.getMin()) + "–" + number(nanos.getMax()),
                ratio(all, of(scenario, contenders.floor()), Measured::nanos),
                contenders.names().contains("OURS") ? ratio(all, of(scenario, "OURS"), Measured::nanos) : "",
                number(median(all, Measured::cpuNanos)),
                ratio(all, of(scenario, contenders.floor()), Measured::cpuNanos),
                String.format(Locale.ROOT, "%.0f", median(all, Measured::bytes)),
                Table.ratio(median(all, Measured::othersCores)));
    }

    private static double median(List<Measured> all, ToDoubleFunction<Measured> number) {
        return Median.of(all.stream().mapToDouble(number).toArray());
    }

    /** The median of the ratios within rounds. */
    private static String ratio(List<Measured> some, List<Measured> others, ToDoubleFunction<Measured> number) {
        return Table.ratio(Median.of(IntStream.range(0, some.size())
                .mapToDouble(round -> number.applyAsDouble(some.get(round)) / number.applyAsDouble(others.get(round)))
                .toArray()));
    }

    private static String number(double nanos) {
        return String.format(Locale.ROOT, nanos < 100 ? "%.1f" : "%.0f", nanos);
    }
}
