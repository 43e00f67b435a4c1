package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures all contenders in rounds and writes tables of medians.
 *
 * <p>{@code short} takes some minutes, {@code full} two hours. {@code -Drounds=9} for more rounds, {@code -Donly=hot} for
 * the scenarios that have this word in their names, {@code -Dresults} for another folder.
 */
public final class Report {

    private Report() {}

    /** Measures {@code short} or {@code full}. */
    public static void main(String[] arguments) {
        boolean full = List.of(arguments).equals(List.of("full"));
        if (!full && !List.of(arguments).equals(List.of("short"))) {
            System.err.println("which set: short or full?");
            System.exit(2);
        }
        Plan set = full ? Plan.FULL : Plan.SHORT;
        Plan plan = set.withRounds(Integer.getInteger("rounds", set.rounds()));
        String only = System.getProperty("only", "").toLowerCase(Locale.ROOT);
        List<Scenario> scenarios = (full ? Scenario.all() : Scenario.few())
                .stream()
                        .filter(scenario ->
                                scenario.name().toLowerCase(Locale.ROOT).contains(only))
                        .toList();
        ResultFile file = new ResultFile(full ? "full" : "short");
        Rounds rounds = new Rounds(plan);
        rounds.run(scenarios);
        List<Table> tables =
                new ArrayList<>(scenarios.stream().map(rounds::table).toList());
        if (full && only.isEmpty()) {
            tables.add(MemoryBenchmark.table(MemoryBenchmark.KEYS));
        }
        file.write(how(plan), tables);
    }

    private static String how(Plan plan) {
        return ("%d rounds of one JVM each, in another order each; %d s of warm-up, %d iterations of %s. Medians; ratios are "
                        + "medians of those within a round.")
                .formatted(plan.rounds(), plan.warmUps(), plan.iterations(), plan.iteration());
    }
}
