package dev.ratelimit.memory.storm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Finds a shorter history that still fails: with fewer calls, errors and changes of threads. */
final class Shrinker {

    /** Without a call, the threads take other turns: so many orders are tried. */
    private static final int ORDERS = 60;

    private final Predicate<History> fails;

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
        History before;
        do {
            before = shortest;
            shortest = shrinker.withFewerTurns(shrinker.withFewerFaults(shrinker.withFewerSteps(shortest)));
        } while (!shortest.equals(before));
        return shortest;
    }

    /** The history, or the same in another order of threads, if one fails. */
    private @Nullable History failing(History history) {
        for (int i = 0; i < ORDERS; i++) {
            History other = i == 0 ? history : new History(i, history.setup(), history.steps());
            if (fails.test(other)) {
                return other;
            }
        }
        return null;
    }

    private History withFewerSteps(History failing) {
        History shortest = failing;
        for (int part = failing.steps().size() / 2; part > 0; part /= 2) {
            int from = 0;
            while (from < shortest.steps().size()) {
                List<Step> steps = new ArrayList<>(shortest.steps());
                steps.subList(from, Math.min(from + part, steps.size())).clear();
                History shorter = failing(new History(shortest.order(), shortest.setup(), List.copyOf(steps)));
                shortest = shorter == null ? shortest : shorter;
                from += shorter == null ? part : 0;
            }
        }
        return shortest;
    }

    private History withFewerFaults(History failing) {
        History shortest = failing;
        for (int i = 0; i < shortest.steps().size(); i++) {
            Step step = shortest.steps().get(i);
            if (step.fault() != null) {
                List<Step> steps = new ArrayList<>(shortest.steps());
                steps.set(i, new Step(step.id(), step.thread(), step.kind(), step.wants(), step.number(), null));
                History shorter = failing(new History(shortest.order(), shortest.setup(), List.copyOf(steps)));
                shortest = shorter == null ? shortest : shorter;
            }
        }
        return shortest;
    }

    private History withFewerTurns(History failing) {
        for (int oneIn : List.of(200, 100, 50, 25, 12)) {
            if (oneIn > failing.setup().oneIn()) {
                History fewer =
                        failing(new History(failing.order(), failing.setup().oneIn(oneIn), failing.steps()));
                if (fewer != null) {
                    return fewer;
                }
            }
        }
        return failing;
    }
}
