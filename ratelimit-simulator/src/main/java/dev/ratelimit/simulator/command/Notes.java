package dev.ratelimit.simulator.command;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.simulator.config.SimulatedLimits;
import dev.ratelimit.simulator.recording.Recording;
import dev.ratelimit.simulator.statistics.PolicyStatistics;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.spring.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a reader of the results must know. Not thread-safe. */
final class Notes {

    private static final long TEN_SECONDS = 10_000_000_000L;

    private final List<String> notes = new ArrayList<>();

    private Notes() {}

    static List<String> of(Traffic traffic, ReplayStatistics statistics) {
        Notes all = new Notes();
        all.notes.addAll(traffic.limits().notes());
        all.off(traffic.limits());
        all.log(traffic);
        Map<String, Integer> maxKeys = traffic.limits().properties().maxKeys();
        for (PolicyStatistics policy : statistics.policies()) {
            int max = maxKeys.getOrDefault(policy.name(), InMemoryStore.DEFAULT_MAX_KEYS);
            long keys = policy.keys() + (policy.requestsOfOtherKeys() > 0 ? 1 : 0);
            if (keys > max) {
                all.add(
                        "Policy '%s' has %,d keys%s, and keeps %,d at a time (max-keys); if too many of them are in use, new ones"
                                + " are refused, and which ones differs from run to run, as in an application",
                        policy.name(), policy.keys(), keys > policy.keys() ? " or more" : "", max);
            }
        }
        if (statistics.requests() == 1) {
            all.add("One request tells little");
        }
        return all.notes;
    }

    private void add(String format, Object... values) {
        notes.add(String.format(Locale.ROOT, format, values));
    }

    private void off(SimulatedLimits limits) {
        for (String policy : limits.properties().policies().keySet()) {
            if (limits.rules().inForce().mode(policy) == Mode.OFF
                    && !limits.leftOut().containsKey(policy)) {
                add("Policy '%s' has mode: off, so that it charges nothing", policy);
            }
        }
    }

    private void log(Traffic traffic) {
        LogSummary log = traffic.log();
        Recording recording = log.recording();
        if (recording != null && recording.share() < 1) {
            add("Only %s of the callers were recorded", TextReport.percent(recording.share()));
        }
        if (recording != null && recording.forgotten() > 0) {
            add(
                    "%,d requests came before and were forgotten (ratelimit.recording.max-requests), so that budgets are full"
                            + " here that were not",
                    recording.forgotten());
        }
        if (log.limited() > 0 && recording != null) {
            add(
                    "%,d requests were refused already when they were recorded: what they would have been answered is not"
                            + " known, so that they are charged; and their clients may have sent fewer requests because of"
                            + " that",
                    log.limited());
        } else if (log.limited() > 0) {
            add(
                    "%,d requests have status 429: they were refused already when they were recorded, and their clients may"
                            + " have sent fewer requests because of that",
                    log.limited());
        }
        boolean fast = traffic.limits().rules().policiesInForce().stream()
                .flatMap(policy -> policy.limits().stream())
                .anyMatch(limit -> limit.rate().periodNanos() < TEN_SECONDS);
        if (log.hasWholeSeconds() && fast) {
            add(
                    "The log has whole seconds, so that all requests of a second come at its beginning; limits of a few seconds"
                            + " seem stricter than they are");
        }
        if (log.preflights() > 0) {
            add(
                    "%,d requests have the method OPTIONS; those that are preflights of browsers would be free, but the log"
                            + " does not have the headers that tell",
                    log.preflights());
        }
    }
}
