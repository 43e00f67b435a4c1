package dev.ratelimit.benchmarks.report;

import java.util.List;

/**
 * Fails, with exit code 1, if this library costs much more than before: CPU time as a ratio to a floor measured in the
 * same rounds, with wide margins, and allocated bytes, without any.
 *
 * <p>Noise only adds time, so the minimum of all rounds counts, for the floor and for the library. A contender that
 * exceeds its bound is measured again, up to twice, before it is reported.
 */
public final class Guard {

    private static final Plan PLAN = Plan.SHORT.withRounds(2);
    private static final int CHANCES = 3;

    private Guard() {}

    /** Measures for several minutes. */
    public static void main(String[] arguments) {
        List<Bound> bounds = Bound.all();
        Rounds rounds = new Rounds(PLAN);
        List<Bound> doubtful = bounds;
        for (int chance = 0; chance < CHANCES && !doubtful.isEmpty(); chance++) {
            List<Scenario> scenarios =
                    doubtful.stream().map(Bound::scenario).distinct().toList();
            for (int round = 0; round < PLAN.rounds(); round++) {
                rounds.run(scenarios);
            }
            doubtful = doubtful.stream().filter(bound -> !bound.kept(rounds)).toList();
        }
        bounds.forEach(bound -> System.out.println(bound.verdict(rounds)));
        if (!doubtful.isEmpty()) {
            System.exit(1);
        }
    }
}
