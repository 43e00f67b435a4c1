package dev.ratelimit.spring.rules.traffic;

import java.util.List;
import java.util.Map;

/** What became of the requests under each policy, on this instance or on several. Thread-safe. */
public interface TrafficCounts {

    /** The time now, since when requests are counted, and when the current minute of histories began, for JSON. */
    Map<String, Object> times();

    /** The requests under a policy since the start, by outcome. */
    Map<String, Long> counts(String policy);

    /** The requests under a policy in each of the last {@link Traffic#MINUTES} minutes, the current one last, by outcome. */
    Map<String, long[]> history(String policy);

    /**
     * The most refused keys of a policy in the current and the previous hour: every key that causes more than
     * 1/{@link Traffic#FREQUENT} of the refusals, and perhaps others; at most twice as many.
     */
    List<FrequentKeys.Frequent> mostRefused(String policy);

    /** The endpoints at which a policy refused most, likewise. */
    List<FrequentKeys.Frequent> mostRefusedEndpoints(String policy);
}
