package dev.ratelimit.simulator.command;

import dev.ratelimit.simulator.replay.KeyText;
import dev.ratelimit.simulator.statistics.KeyCount;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.spring.rules.decision.OutcomeCounter.Outcome;
import dev.ratelimit.spring.rules.rule.Rule;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Prints what a replay has shown. */
final class TextReport {

    private static final int SHOWN_KEYS = 5;

    private final PrintWriter out;

    TextReport(PrintWriter out) {
        this.out = out;
    }

    private void line(String format, Object... values) {
        out.print(String.format(Locale.ROOT, format, values) + "\n");
    }

    void print(Traffic traffic, ReplayStatistics statistics, KeyText keys) {
        log(traffic.log(), statistics);
        for (PolicyStatistics policy : statistics.policies()) {
            policy(traffic, policy, keys);
        }
        traffic.limits()
                .leftOut()
                .forEach((policy, lack) -> line(
                        "%nPolicy '%s' was left out, because the log lacks %s. What it would decide is not known.",
                        policy, String.join(", ", lack)));
        notes(traffic, statistics);
    }

    private void log(LogSummary log, ReplayStatistics statistics) {
        if (statistics.requests() == 0) {
            line("There are no requests in the log.");
        } else {
            line(
                    "%,d requests from %s to %s: %,d admitted, %,d refused (%s).",
                    statistics.requests(),
                    instant(statistics.firstNanos()),
                    instant(statistics.lastNanos()),
                    statistics.requests() - statistics.refused(),
                    statistics.refused(),
                    share(statistics.refused(), statistics.requests()));
            line("At most %,d requests in a second were admitted.", statistics.peakPerSecond());
            if (statistics.peakInFlight() > 0) {
                line("At most %,d admitted requests were served at the same time.", statistics.peakInFlight());
            }
        }
        log.unread().forEach(unread -> line("%s", unread));
    }

    private void policy(Traffic traffic, PolicyStatistics policy, KeyText keys) {
        Rule rule = traffic.limits().rules().inForce().byPolicy().get(policy.name());
        line(
                "%n%s",
                rule == null ? policy.name() : traffic.limits().asWritten(rule).describe());
        boolean shadow = rule != null && rule.shadow();
        line(
                "    admitted %,d, %s %,d; %,d of %,d keys refused (%s)",
                policy.admitted(),
                shadow ? "would have refused" : "refused",
                policy.refused(),
                policy.refusedKeys(),
                policy.keys(),
                share(policy.refusedKeys(), policy.keys()));
        other(policy, Outcome.WAITED, "waited for permits");
        other(policy, Outcome.EXEMPT, "exempt");
        other(policy, Outcome.UNLIMITED, "unlimited");
        List<KeyCount> most = policy.mostRefused(SHOWN_KEYS);
        for (KeyCount key : most) {
            String text = keys.of(policy.name(), key.key());
            line(
                    "    %-40s refused %,d of %,d, asked for up to %,d permits in a period",
                    text.isEmpty() ? "(all)" : text, key.refused(), key.requests(), key.peak());
        }
        if (policy.requestsOfOtherKeys() > 0) {
            line("    %,d requests of further keys are not in the figures by key", policy.requestsOfOtherKeys());
        }
    }

    private void other(PolicyStatistics policy, Outcome outcome, String text) {
        if (policy.count(outcome) > 0) {
            line("    %s: %,d", text, policy.count(outcome));
        }
    }

    private void notes(Traffic traffic, ReplayStatistics statistics) {
        List<String> notes = Notes.of(traffic, statistics);
        if (!notes.isEmpty()) {
            line("%nTo know:");
            notes.forEach(note -> line("  - %s.", note));
        }
    }

    static String instant(long nanos) {
        return Instant.ofEpochSecond(0, nanos).toString();
    }

    static String percent(double share) {
        return String.format(Locale.ROOT, "%.3g %%", 100 * share);
    }

    static String share(long part, long whole) {
        return whole == 0 ? "0 %" : String.format(Locale.ROOT, "%.3g %%", 100.0 * part / whole);
    }
}
