package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * The measurements of scenarios, round by round. In a round each contender of a scenario has one JVM, one after the other in an order
 * of the round's own, so that a busy minute of the machine does not hit the same one each time.
 */
final class Rounds {

    private final Plan plan;
    private final Random random = new Random();
    private final Map<Line, List<Measured>> measured = new LinkedHashMap<>();

    private record Line(Scenario scenario, String contender) {}

    Rounds(Plan plan) {
        this.plan = plan;
    }

    void run(List<Scenario> scenarios) {
        for (int round = 1; round <= plan.rounds(); round++) {
            for (Scenario scenario : scenarios) {
                List<String> contenders = new ArrayList<>(scenario.contenders().names());
                Collections.shuffle(contenders, random);
                for (String contender : contenders) {
                    Measured one = Measured.of(scenario, contender, plan);
                    of(scenario, contender).add(one);
                    System.err.printf(
                            Locale.ROOT,
                            "round %d of %d: %s: %s: %.1f ns, %.1f ns CPU, %.1f B; others %.2f%n",
                            round,
                            plan.rounds(),
                            scenario.name(),
                            Names.plain(contender),
                            one.nanos(),
                            one.cpuNanos(),
                            one.bytes(),
                            one.othersCores());
                }
            }
        }
    }

    /** One for each round. */
    List<Measured> of(Scenario scenario, String contender) {
        return measured.computeIfAbsent(new Line(scenario, contender), line -> new ArrayList<>());
    }

    Table table(Scenario scenario) {
        List<String> header = List.of(
                "contender", "ns/op", "lowest–highest", "of floor", "of ratelimit", "CPU ns/op", "B/op", "others");
        return new Table(
                scenario.name(),
                header,
                scenario.contenders().names().stream()
                        .map(contender -> row(scenario, contender))
                        .toList());
    }

    private List<String> row(Scenario scenario, String contender) {
        List<Measured> all = of(scenario, contender);
        List<String> names = scenario.contenders().names();
        double[] nanos = all.stream().mapToDouble(Measured::nanos).toArray();
        return List.of(
                Names.plain(contender),
                number(Median.of(nanos)),
                number(DoubleStream.of(nanos).min().orElseThrow()) + "–"
                        + number(DoubleStream.of(nanos).max().orElseThrow()),
                ratio(all, of(scenario, scenario.contenders().floor())),
                names.contains("OURS") ? ratio(all, of(scenario, "OURS")) : "",
                number(Median.of(all.stream().mapToDouble(Measured::cpuNanos).toArray())),
                "%.0f"
                        .formatted(Median.of(
                                all.stream().mapToDouble(Measured::bytes).toArray())));
    }

    /** The median of the ratios of the same round. */
    private static String ratio(List<Measured> some, List<Measured> others) {
        return Table.ratio(Median.of(IntStream.range(0, some.size())
                .mapToDouble(
                        round -> some.get(round).nanos() / others.get(round).nanos())
                .toArray()));
    }

    private static String number(double nanos) {
        return String.format(Locale.ROOT, nanos < 100 ? "%.1f" : "%.0f", nanos);
    }
}
