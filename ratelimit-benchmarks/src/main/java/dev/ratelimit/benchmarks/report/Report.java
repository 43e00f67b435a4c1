package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Measures all contenders in rounds and writes tables of medians after each round.
 *
 * <p>{@code short} takes several minutes, {@code full} two hours. {@code -Drounds=9} runs more rounds,
 * {@code -Donly=hot} only the scenarios with this word in their names, {@code -Dcontenders=FLOOR,OURS} only these
 * contenders, and {@code -Dresults} sets another folder.
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
        String contenders = System.getProperty("contenders", "");
        List<Scenario> scenarios = (full ? Scenario.all() : Scenario.few())
                .stream()
                        .filter(scenario ->
                                scenario.name().toLowerCase(Locale.ROOT).contains(only))
                        .map(scenario -> contenders.isEmpty() ? scenario : scenario.among(contenders.split(",", -1)))
                        .filter(scenario -> !scenario.contenders().names().isEmpty())
                        .toList();
        if (scenarios.isEmpty()) {
            System.err.println("no scenario has this word in its title and one of these contenders");
            System.exit(2);
        }
        ResultFile file = new ResultFile((full ? "full" : "short") + (only.isEmpty() ? "" : "-" + Names.ofFile(only)));
        Rounds rounds = new Rounds(plan);
        for (int round = 1; round <= plan.rounds(); round++) {
            System.err.printf("round %d of %d%n", round, plan.rounds());
            rounds.run(scenarios);
            file.write(how(plan, round), tables(scenarios, rounds));
        }
        if (full && only.isEmpty()) {
            List<Table> tables = tables(scenarios, rounds);
            tables.add(MemoryBenchmark.table(MemoryBenchmark.KEYS));
            file.write(how(plan, plan.rounds()), tables);
        }
    }

    private static List<Table> tables(List<Scenario> scenarios, Rounds rounds) {
        return scenarios.stream().map(rounds::table).collect(Collectors.toCollection(ArrayList::new));
    }

    private static String how(Plan plan, int rounds) {
        return ("%d rounds of one JVM each, in another order each; %d s of warm-up, %d iterations of %s. Medians; ratios are "
                        + "medians of those within a round.")
                .formatted(rounds, plan.warmUps(), plan.iterations(), plan.iteration());
    }
}
