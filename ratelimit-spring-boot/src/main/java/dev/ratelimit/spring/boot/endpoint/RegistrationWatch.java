package dev.ratelimit.spring.boot.endpoint;

import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.method.HandlerMethod;

/**
 * Notices that controllers were registered or removed after their routes were indexed, by looking once a second at most.
 * Thread-safe.
 */
public final class RegistrationWatch {

    private static final Logger log = LoggerFactory.getLogger(RegistrationWatch.class);

    private static final long INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();

    /**
     * A mapping whose routes are indexed.
     *
     * @param name for messages
     * @param now its routes at the moment
     * @param known its routes when they were indexed
     */
    public record Mapping(String name, Supplier<Map<?, HandlerMethod>> now, Map<?, HandlerMethod> known) {

        /** A mapping with its current routes. */
        public static Mapping of(Object mapping, Supplier<Map<?, HandlerMethod>> now) {
            return new Mapping(mapping.getClass().getSimpleName(), now, now.get());
        }
    }

    private final String framework;
    private final List<Mapping> mappings;
    private final Ticker ticker;
    private final AtomicLong next;
    private volatile boolean changed;

    /**
     * Watches mappings.
     *
     * @param framework looks up endpoints after a change, such as {@code Spring MVC}
     */
    public RegistrationWatch(String framework, List<Mapping> mappings, Ticker ticker) {
        this.framework = framework;
        this.mappings = mappings;
        this.ticker = ticker;
        this.next = new AtomicLong(ticker.nanos());
    }

    /** Whether {@link #sawChange} has seen a change so far. */
    public boolean hasSeenChange() {
        return changed;
    }

    /** Whether the routes have changed since they were read; looks if it is time to. */
    public boolean sawChange() {
        if (changed) {
            return true;
        }
        long due = next.get();
        long now = ticker.nanos();
        if (now - due >= 0 && next.compareAndSet(due, now + INTERVAL_NANOS)) {
            mappings.forEach(this::look);
        }
        return changed;
    }

    private void look(Mapping mapping) {
        if (!changed && !mapping.now().get().equals(mapping.known())) {
            changed = true;
            log.warn(
                    "Controllers were added to {} or removed from it after start-up. From now on, {} looks up the"
                            + " endpoint of each request, which is slower, and annotations of controllers that were"
                            + " added are ignored. Add controllers before start-up, or limit them by configuration.",
                    mapping.name(),
                    framework);
        }
    }
}
