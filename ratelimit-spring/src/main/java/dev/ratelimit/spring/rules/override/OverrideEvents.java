package dev.ratelimit.spring.rules.override;

import dev.ratelimit.spring.RateLimitOverrideEvent;
import dev.ratelimit.spring.RateLimitOverrideEvent.Action;
import dev.ratelimit.spring.RateLimitPolicies.OverriddenKey;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Publishes what becomes of overrides as events, once it is told where. Thread-safe. */
public final class OverrideEvents {

    /** The maximum number of overrides that are events if they change at once without anybody asking here. */
    static final int MAX_AT_ONCE = 100;

    private final BiFunction<String, String, String> hash;
    private volatile @Nullable Published published;

    /**
     * Where events go.
     *
     * @param to hands them to listeners
     * @param plain whether they show keys as their plain values, not as hashes
     */
    private record Published(Consumer<Object> to, boolean plain) {}

    /**
     * Publishes nothing yet.
     *
     * @param hash of a policy's key
     */
    OverrideEvents(BiFunction<String, String, String> hash) {
        this.hash = hash;
    }

    void publishTo(Consumer<Object> to, boolean plain) {
        published = new Published(to, plain);
    }

    void publish(String policy, OverriddenKey override, Action action, boolean here, @Nullable String by) {
        Published events = published;
        if (events != null) {
            String key = override.key();
            events.to()
                    .accept(new RateLimitOverrideEvent(
                            policy,
                            events.plain() ? key : hash.apply(policy, key),
                            action,
                            here,
                            by,
                            override.limit(),
                            override.until(),
                            override.reason()));
        }
    }
}
