package dev.ratelimit.spring.boot.redis;

import dev.ratelimit.redis.RedisStore;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Up, or degraded while the store does not use a failing server. Never down: the application follows its policies'
 * on-store-failure, and restarting it would not help.
 */
public final class RedisStoreHealth extends AbstractHealthIndicator {

    /** A status that aggregators do not know, so that it affects neither the overall status nor the HTTP status. */
    static final Status DEGRADED = new Status("DEGRADED");

    private final RedisStore store;

    public RedisStoreHealth(RedisStore store) {
        this.store = store;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        if (store.available()) {
            builder.up().withDetail("decides", "Redis");
        } else {
            builder.status(DEGRADED).withDetail("decides", "on-store-failure of each policy, as Redis fails");
        }
    }
}
