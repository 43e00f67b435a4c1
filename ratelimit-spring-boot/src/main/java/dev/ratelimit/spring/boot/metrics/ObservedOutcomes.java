package dev.ratelimit.spring.boot.metrics;

import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.request.RequestContext;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds to the observation of a request, and thus to its trace, which policies refused it or let it wait. The values have high
 * cardinality in Micrometer's sense, so they become no tags of {@code http.server.requests}, all of whose meters must have the
 * same ones.
 */
public final class ObservedOutcomes implements OutcomeCounter {

    static final String POLICY = "ratelimit.policy";
    static final String RESULT = "ratelimit.result";
    static final String SHADOW = "ratelimit.shadow-policy";

    /** What happened to most requests is not worth a word in each trace. */
    private static final Set<Outcome> USUAL = EnumSet.of(Outcome.ADMITTED, Outcome.EXEMPT, Outcome.UNLIMITED);

    private final ObservationRegistry registry;

    public ObservedOutcomes(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        if (USUAL.contains(outcome)) {
            return;
        }
        Observation observation = registry.getCurrentObservation();
        if (observation == null || observation.isNoop()) {
            return;
        }
        if (outcome == Outcome.SHADOW_REFUSED) {
            append(observation, SHADOW, policy);
        } else {
            observation.highCardinalityKeyValue(RESULT, outcome.tag());
            append(observation, POLICY, policy);
        }
    }

    private static void append(Observation observation, String key, String policy) {
        KeyValue others = observation.getContextView().getHighCardinalityKeyValue(key);
        observation.highCardinalityKeyValue(key, others == null ? policy : others.getValue() + "," + policy);
    }
}
