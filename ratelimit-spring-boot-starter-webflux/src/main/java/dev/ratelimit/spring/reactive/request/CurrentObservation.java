package dev.ratelimit.spring.reactive.request;

import io.micrometer.observation.Observation;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/** The observation that a reactive chain belongs to, in its context. */
public final class CurrentObservation {

    private CurrentObservation() {}

    /** The observation of a context; {@code null} if nobody observes the chain. */
    public static @Nullable Observation of(ContextView context) {
        return context.getOrDefault(ObservationThreadLocalAccessor.KEY, null);
    }

    /** Makes a decision, what is counted of which is noted in the observation. */
    @SuppressWarnings("try") // the scope is there to be closed
    public static <T> T note(@Nullable Observation observation, Supplier<T> decision) {
        if (observation == null || observation.isNoop()) {
            return decision.get();
        }
        try (Observation.Scope scope = observation.openScope()) {
            return decision.get();
        }
    }
}
