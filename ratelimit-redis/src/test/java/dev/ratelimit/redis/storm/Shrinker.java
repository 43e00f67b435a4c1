package dev.ratelimit.redis.storm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Finds a shorter history that still fails, by leaving out ever smaller parts (delta debugging, Zeller 2002). */
final class Shrinker {

    /** Enough for most histories, and a few seconds. */
    private static final int MAX_RUNS = 1_000;

    private final Predicate<History> fails;
    private int runs;

    private Shrinker(Predicate<History> fails) {
        this.fails = fails;
    }

    /**
     * The shortest failing history found.
     *
     * @param failing a history that fails
     */
    static History shrink(History failing, Predicate<History> fails) {
        Shrinker shrinker = new Shrinker(fails);
        History shortest = failing;
        for (int part = failing.steps().size() / 2; part > 0; part /= 2) {
            History shorter = shortest;
            do {
                shortest = shorter;
                shorter = shrinker.withoutParts(shortest, part);
            } while (part == 1 && shorter.steps().size() < shortest.steps().size());
            shortest = shorter;
        }
        return shortest;
    }

    /** Leaves out every part of this size without which it still fails. */
    private History withoutParts(History failing, int part) {
        History shortest = failing;
        int from = 0;
        while (from < shortest.steps().size() && runs < MAX_RUNS) {
            List<Step> steps = new ArrayList<>(shortest.steps());
            steps.subList(from, Math.min(from + part, steps.size())).clear();
            History shorter = shortest.with(steps);
            runs++;
            if (fails.test(shorter)) {
                shortest = shorter;
            } else {
                from += part;
            }
        }
        return shortest;
    }
}
