package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.redis.RedisStore;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Up, or degraded while a server is left alone. Never down: the application does what its policies say, and an orchestrator
 * that restarted it would help nobody.
 */
final class RedisStoreHealth extends AbstractHealthIndicator {

    /** No status that aggregators know, so that it changes neither the whole nor the HTTP status. */
    static final Status DEGRADED = new Status("DEGRADED");

    private final RedisStore store;

    RedisStoreHealth(RedisStore store) {
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
