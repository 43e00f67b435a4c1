package dev.ratelimit.simulator.command;

import dev.ratelimit.algorithm.Algorithm;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.statistics.KeyCount;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.suggest.KeyShare;
import dev.ratelimit.simulator.suggest.Suggestion;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints suggested limits as YAML, with the evidence as comments. */
final class SuggestionReport {

    private static final int SHOWN_KEYS = 5;

    /** Fewer requests tell nothing about what limits do. */
    private static final int LEAST_REQUESTS = 100;

    /** Whether the limits do what was wished, in the part that was held out. */
    private enum Verdict {
        HOLDS("The wish holds in the part that was held out."),
        NOT_CHECKED("NOT CHECKED: the part that was held out has too few requests to tell whether the wish holds."),
        BROKEN("THE WISH DOES NOT HOLD, as said above.");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        Verdict and(Verdict other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    private final PrintWriter out;
    private final KeyShare share;
    private final KeyText keys;

    SuggestionReport(PrintWriter out, KeyShare share, KeyText keys) {
        this.out = out;
        this.share = share;
        this.keys = keys;
    }

    private void line(String format, Object... values) {
        out.print(String.format(Locale.ROOT, format, values) + "\n");
    }

    /** Prints the limits; returns whether they do what was wished in the part that was held out. */
    boolean print(
            List<Suggestion> suggestions,
            SimulatedLimits before,
            SimulatedLimits suggested,
            TouchedKeys seen,
            TouchedKeys heldOut) {
        Verdict verdict = heldOut.statistics().requests() < LEAST_REQUESTS ? Verdict.NOT_CHECKED : Verdict.HOLDS;
        traffic("Chosen by", seen.statistics());
        traffic("Checked by", heldOut.statistics());
        line("# What else the policies have, such as match, stays as it is.");
        line("ratelimit:");
        line("  policies:");
        for (Suggestion one : suggestions) {
            Rule rule = suggested.asWritten(suggested.rules().inForce().rule(one.policy()));
            line("    %s:", one.policy());
            line("      # %s", one.reason());
            verdict = verdict.and(evidence("", rule, seen.policies().get(one.policy())));
            verdict =
                    verdict.and(evidence("held out: ", rule, heldOut.policies().get(one.policy())));
            policy(one, rule, before.hasAlgorithm(one.policy(), Algorithm.TOKEN_BUCKET));
        }
        line("# %s", verdict.text);
        return verdict == Verdict.HOLDS;
    }

    private void policy(Suggestion one, Rule rule, boolean sameAlgorithm) {
        line("      limit: %s", one.limit());
        if (one.burst() != null) {
            line("      burst: %d", one.burst());
        }
        if (!sameAlgorithm) {
            line("      algorithm: %s", Algorithm.TOKEN_BUCKET);
        }
        if (!rule.key().parts().isEmpty()) {
            List<String> parts =
                    rule.key().parts().stream().map(Object::toString).toList();
            line("      key: %s", yaml(String.join(", ", parts)));
        }
    }

    private static String yaml(String key) {
        return key.contains("#") || key.contains(": ") ? "'" + key.replace("'", "''") + "'" : key;
    }

    private void traffic(String what, ReplayStatistics part) {
        if (part.requests() == 0) {
            line("# %s no requests.", what);
        } else {
            line(
                    "# %s %,d requests from %s to %s; %,d of them refused (%s).",
                    what,
                    part.requests(),
                    TextReport.instant(part.firstNanos()),
                    TextReport.instant(part.lastNanos()),
                    part.refused(),
                    TextReport.share(part.refused(), part.requests()));
        }
    }

    /** Prints what a policy does in a part; returns whether that is what was wished. */
    private Verdict evidence(String part, Rule rule, @Nullable PolicyStatistics policy) {
        if (policy == null || policy.keys() == 0) {
            line("      # %sno request asks for it", part);
            return Verdict.NOT_CHECKED;
        }
        line(
                "      # %s%,d of %,d keys refused (%s), %,d of %,d requests; at most %,d permits of all keys in a period",
                part,
                policy.refusedKeys(),
                policy.keys(),
                TextReport.share(policy.refusedKeys(), policy.keys()),
                policy.refused(),
                policy.requests(),
                policy.admittedPeak());
        List<KeyCount> most = policy.mostRefused(SHOWN_KEYS);
        if (!most.isEmpty() && !rule.key().parts().isEmpty()) {
            List<String> names =
                    most.stream().map(key -> keys.of(policy.name(), key.key())).toList();
            line("      #   refused most often: %s", String.join("; ", names));
        }
        if (policy.refusedKeys() <= share.of(policy.keys())) {
            return Verdict.HOLDS;
        }
        String tooFew = share.tooFew(policy.keys());
        line(
                "      #   THAT IS MORE than %s%s",
                TextReport.percent(share.share()), tooFew == null ? "" : "; " + tooFew);
        return Verdict.BROKEN;
    }

    /** Prints a line about what of a log was not read, as a comment. */
    void unread(String line) {
        line("# %s", line);
    }

    /** Prints what a reader must know. */
    void notes(List<String> more, Traffic traffic) {
        List<String> all = new ArrayList<>(more);
        for (Map.Entry<String, List<String>> out : traffic.limits().leftOut().entrySet()) {
            all.add("Policy '" + out.getKey() + "' was left out, because the log lacks "
                    + String.join(", ", out.getValue()));
        }
        all.addAll(traffic.limits().notes());
        all.forEach(note -> line("# %s.", note));
    }
}
