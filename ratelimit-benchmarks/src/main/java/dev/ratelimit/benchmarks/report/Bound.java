package dev.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a contender must not exceed.
 *
 * @param contender the contender
 * @param ratio of its minimum CPU time to that of the scenario's floor, if that is another
 * @param bytes allocated per call
 */
record Bound(Scenario scenario, String contender, double ratio, double bytes) {

    /** If profilers divide their own allocations by the calls of a short run. */
    private static final double NOTHING = 0.5;

    /** The charges that the caller creates. */
    private static final double CHARGES = 152 + NOTHING;

    /** The values when the bounds were set, plus a quarter: a third that is lost is seen, and noise is not. */
    static List<Bound> all() {
        List<Bound> bounds = new ArrayList<>();
        hot(bounds, "admitted", 1.5, 2.5);
        hot(bounds, "refused", 1.5, 3.2);
        Scenario keyed = Scenario.keyed("100000", "ZIPF", 1).among("BARE_TABLE", "OURS");
        bounds.add(new Bound(keyed, "OURS", 2.1, NOTHING));
        chain(bounds, "ADMITTED", 3.1, 3.7, 496);
        chain(bounds, "REFUSED", 2.6, 5.2, 496);
        Scenario algorithms = Scenario.algorithms("admitted");
        for (String algorithm : algorithms.contenders().names()) {
            bounds.add(new Bound(algorithms, algorithm, algorithm.equals("SLIDING_LOG") ? 5 : 3, NOTHING));
        }
        return bounds;
    }

    private static void hot(List<Bound> bounds, String method, double yesOrNo, double full) {
        Scenario hot =
                Scenario.hot(method, 1).among("FLOOR", "OURS", "OURS_BY_KEY", "OURS_IN_FULL", "OURS_BY_KEY_IN_FULL");
        bounds.add(new Bound(hot, "OURS", yesOrNo, NOTHING));
        bounds.add(new Bound(hot, "OURS_BY_KEY", yesOrNo, NOTHING));
        bounds.add(new Bound(hot, "OURS_IN_FULL", full, 192 + NOTHING));
        bounds.add(new Bound(hot, "OURS_BY_KEY_IN_FULL", full, 192 + NOTHING));
    }

    private static void chain(List<Bound> bounds, String outcome, double yesOrNo, double full, double fullBytes) {
        Scenario chain = Scenario.chain(outcome, "100000", 1).among("BARE_TABLE", "OURS", "OURS_IN_FULL");
        bounds.add(new Bound(chain, "OURS", yesOrNo, CHARGES));
        bounds.add(new Bound(chain, "OURS_IN_FULL", full, fullBytes + NOTHING));
    }

    boolean kept(Rounds rounds) {
        return ratio(rounds) <= ratio && bytes(rounds) <= bytes;
    }

    String verdict(Rounds rounds) {
        return String.format(
                Locale.ROOT,
                "%s: %s, %s: %.2f of the floor (at most %.2f), %.1f B a call (at most %.1f)",
                kept(rounds) ? "kept" : "EXCEEDED",
                scenario.name(),
                Names.plain(contender),
                ratio(rounds),
                ratio,
                bytes(rounds),
                bytes);
    }

    /** Uses the minimum of all rounds, because other processes only add to both. */
    private double ratio(Rounds rounds) {
        return cpu(rounds, contender) / cpu(rounds, scenario.contenders().floor());
    }

    private double cpu(Rounds rounds, String of) {
        return rounds.of(scenario, of).stream()
                .mapToDouble(Measured::cpuNanos)
                .min()
                .orElseThrow();
    }

    private double bytes(Rounds rounds) {
        return rounds.of(scenario, contender).stream()
                .mapToDouble(Measured::bytes)
                .min()
                .orElseThrow();
    }
}
