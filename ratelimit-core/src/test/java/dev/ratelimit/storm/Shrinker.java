package dev.ratelimit.storm;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Finds a shorter history that still fails, by leaving out ever smaller parts (delta debugging, Zeller 2002). */
final class Shrinker<S, H extends Shrinkable<S, H>> {

    /** Enough for most histories, and at most about a minute. */
    private static final int MAX_RUNS = 5_000;

    private final Predicate<H> fails;
    private int runs;

    Shrinker(Predicate<H> fails) {
        this.fails = fails;
    }

    /** The shortest failing history found. */
    H shrink(H failing) {
        H shortest = failing;
        H before;
        do {
            before = shortest;
            shortest = simplest(withFewerSteps(shortest));
        } while (!shortest.equals(before));
        return shortest;
    }

    private H withFewerSteps(H failing) {
        H shortest = failing;
        for (int part = (failing.steps().size() + 1) / 2; part > 0; part /= 2) {
            int from = 0;
            while (from < shortest.steps().size()) {
                List<S> steps = new ArrayList<>(shortest.steps());
                steps.subList(from, Math.min(from + part, steps.size())).clear();
                Optional<H> shorter = failing(shortest.with(List.copyOf(steps)));
                shortest = shorter.orElse(shortest);
                from += shorter.isPresent() ? 0 : part;
            }
        }
        return shortest;
    }

    private H simplest(H failing) {
        H simplest = failing;
        Optional<H> simpler = Optional.of(failing);
        while (simpler.isPresent()) {
            simplest = simpler.get();
            simpler = simplest.simplified()
                    .flatMap(each -> failing(each).stream())
                    .findFirst();
        }
        return simplest;
    }

    /** The history, or the same in another order, if one fails. */
    private Optional<H> failing(H history) {
        return Stream.concat(Stream.of(history), history.reordered())
                .filter(each -> ++runs <= MAX_RUNS && fails.test(each))
                .findFirst();
    }
}
