package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Those who are told what was done to policies, after it is in force: what one of them throws concerns neither the others
 * nor whoever did it. Thread-safe.
 */
final class Observers {

    private static final Logger log = LoggerFactory.getLogger(Observers.class);

    private final List<BiConsumer<String, Map<String, Object>>> all = new CopyOnWriteArrayList<>();
    private volatile Consumer<Set<String>> names = names -> {};

    void add(BiConsumer<String, Map<String, Object>> observer) {
        all.add(observer);
    }

    /** Tells this the names of all policies, in place of the one before. */
    void addOfNames(Consumer<Set<String>> observer) {
        names = observer;
    }

    /** There may be other policies than before. */
    void tellNames(Set<String> now) {
        try {
            names.accept(now);
        } catch (Exception e) {
            log.warn(
                    "Rate limits: meters of policies may be missing, as an observer has failed to take note of {}",
                    now,
                    e);
        }
    }

    void tell(String policy, Map<String, Object> what) {
        for (BiConsumer<String, Map<String, Object>> observer : all) {
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
}
