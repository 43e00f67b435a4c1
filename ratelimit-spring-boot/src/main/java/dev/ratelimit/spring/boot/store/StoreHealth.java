package dev.ratelimit.spring.boot.store;

import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.spring.rules.config.RateLimitProperties;

/**
 * Up, or degraded while the store does not use a failing server. Never down: the application follows its policies'
 * on-store-failure, and restarting it would not help.
 *
 * @param status {@code UP}, or one that aggregators do not know, so that it affects neither the overall status nor the
 *     HTTP status
 * @param decides what decides requests
 */
public record StoreHealth(String status, String decides) {

    /** The present health of a store. */
    public static StoreHealth of(RemoteStore store, RateLimitProperties properties) {
        RateLimitProperties.Remote settings = properties.store().remote();
        String title = settings == null ? "the store" : settings.title();
        return store.available()
                ? new StoreHealth("UP", title)
                : new StoreHealth("DEGRADED", "on-store-failure of each policy, as " + title + " fails");
    }
}
