package dev.ratelimit.simulator.command;

import dev.ratelimit.Policy;
import dev.ratelimit.simulator.statistics.ReplayStatistics;
import dev.ratelimit.simulator.traffic.LogSummary;
import dev.ratelimit.spring.rules.request.Reads.Fact;
import dev.ratelimit.spring.rules.rule.Stage;
import java.util.ArrayList;
import java.util.List;

/** What a reader of the results must know. */
final class Notes {

    private static final long TEN_SECONDS = 10_000_000_000L;

    private Notes() {}

    static List<String> of(Traffic traffic, ReplayStatistics statistics) {
        List<String> notes = new ArrayList<>(traffic.limits().notes());
        LogSummary log = traffic.log().summary();
        if (log.limited() > 0) {
            notes.add(String.format(
                    "%,d requests have status 429: they were refused already when they were recorded, and their clients"
                            + " may have sent fewer requests because of that",
                    log.limited()));
        }
        boolean fast = traffic.limits().rules().policiesInForce().stream()
                .map(Policy::limits)
                .anyMatch(
                        limits -> limits.stream().anyMatch(limit -> limit.rate().periodNanos() < TEN_SECONDS));
        if (log.hasWholeSeconds() && fast && !traffic.trace()) {
            notes.add(
                    "The log has whole seconds, so that all requests of a second come at its beginning; limits of a few"
                            + " seconds seem stricter than they are");
        }
        if (log.preflights() > 0) {
            notes.add(String.format(
                    "%,d requests have the method OPTIONS; those that are preflights of browsers would be free, but the log"
                            + " does not have the headers that tell",
                    log.preflights()));
        }
        boolean byEndpoint =
                traffic.limits().rules().inForce().reads((Stage) null).include(Fact.ENDPOINT);
        if (byEndpoint && traffic.endpoints().learned() > 0) {
            notes.add(String.format(
                    "%,d endpoints were learned from the paths (--endpoints or --openapi)",
                    traffic.endpoints().learned()));
        }
        if (statistics.requests() == 1) {
            notes.add("One request tells little");
        }
        return notes;
    }
}
