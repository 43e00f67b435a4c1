package dev.ratelimit.spring.servlet.endpoint;

import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Notices that controllers were registered or removed after their routes were indexed, by looking once a second at most.
 * Thread-safe.
 */
final class RegistrationWatch {

    private static final Logger log = LoggerFactory.getLogger(RegistrationWatch.class);

    private static final long INTERVAL_NANOS = Duration.ofSeconds(1).toNanos();

    private final Map<RequestMappingInfoHandlerMapping, Map<RequestMappingInfo, HandlerMethod>> known = new HashMap<>();
    private final Ticker ticker;
    private final AtomicLong next;
    private volatile boolean changed;

    /** Watches those of the mappings whose routes are indexed. */
    RegistrationWatch(List<HandlerMapping> mappings, Ticker ticker) {
        for (HandlerMapping mapping : mappings) {
            if (MappedRoutes.canStandFor(mapping)) {
                RequestMappingInfoHandlerMapping controllers = (RequestMappingInfoHandlerMapping) mapping;
                known.put(controllers, controllers.getHandlerMethods());
            }
        }
        this.ticker = ticker;
        this.next = new AtomicLong(ticker.nanos());
    }

    /** Whether {@link #sawChange} has seen a change so far. */
    boolean hasSeenChange() {
        return changed;
    }

    /** Whether the routes have changed since they were read; looks if it is time to. */
    boolean sawChange() {
        if (changed) {
            return true;
        }
        long due = next.get();
        long now = ticker.nanos();
        if (now - due >= 0 && next.compareAndSet(due, now + INTERVAL_NANOS)) {
            known.forEach(this::look);
        }
        return changed;
    }

    private void look(RequestMappingInfoHandlerMapping mapping, Map<RequestMappingInfo, HandlerMethod> routes) {
        if (!changed && !mapping.getHandlerMethods().equals(routes)) {
            changed = true;
            log.warn(
                    "Controllers were added to {} or removed from it after start-up. From now on, Spring MVC looks up the"
                            + " endpoint of each request, which is slower, and annotations of controllers that were"
                            + " added are ignored. Add controllers before start-up, or limit them by configuration.",
                    mapping.getClass().getSimpleName());
        }
    }
}
