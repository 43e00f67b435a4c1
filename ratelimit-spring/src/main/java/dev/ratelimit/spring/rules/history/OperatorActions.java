package dev.ratelimit.spring.rules.history;

import dev.ratelimit.spring.rules.text.Quotation;
import dev.ratelimit.spring.rules.text.WellFormed;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who operates at the moment, an operator or the application itself, and who is told what was done, once it is in force: what
 * an observer throws is logged, and concerns neither others nor whoever did it. Thread-safe.
 *
 * @param who the name of whoever asks at the moment; {@code null} for the application itself
 * @param observers of what was done to a policy, or to a key under it
 * @param watchers of the names of all policies, whenever other rules are in force
 * @param events hands events to the application, and throws nothing
 * @param showKeys whether events show keys as their plain values, not as hashes
 */
public record OperatorActions(
        Supplier<@Nullable String> who,
        List<BiConsumer<String, Map<String, Object>>> observers,
        List<Consumer<Set<String>>> watchers,
        Consumer<Object> events,
        boolean showKeys) {

    /** The application itself, where others have a name. */
    public static final String APPLICATION = "the application";

    private static final Logger log = LoggerFactory.getLogger(OperatorActions.class);

    /** The name of whoever asks; {@code null} for the application itself. */
    public @Nullable String name() {
        String name = who.get();
        return name == null ? null : WellFormed.of(name);
    }

    /** The name as it is kept. */
    public String kept() {
        String name = name();
        return name == null ? APPLICATION : name;
    }

    /** The name as it is logged. */
    public String logged() {
        String name = name();
        return name == null ? APPLICATION : Quotation.of(name);
    }

    /** Tells what was done to a policy, or to a key under it. */
    public void tell(String policy, Map<String, Object> what) {
        for (BiConsumer<String, Map<String, Object>> observer : observers) {
            try {
                observer.accept(policy, what);
            } catch (Exception e) {
                log.warn(
                        "Rate limit {}: an observer, such as an audit log, has failed to take note of {}, which is in"
                                + " force all the same",
                        Quotation.of(policy),
                        what.keySet(),
                        e);
            }
        }
    }

    /** Tells that other rules are in force, and the names of all policies. */
    public void tellReplaced(Set<String> policies) {
        for (Consumer<Set<String>> watcher : watchers) {
            try {
                watcher.accept(policies);
            } catch (Exception e) {
                log.warn(
                        "Rate limits: meters of policies may be missing, as an observer has failed to take note of {}",
                        policies,
                        e);
            }
        }
    }

    /** Publishes an event of the application. */
    public void publish(Object event) {
        events.accept(event);
    }
}
