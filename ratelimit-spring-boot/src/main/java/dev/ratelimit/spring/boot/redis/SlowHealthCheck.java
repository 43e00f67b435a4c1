package dev.ratelimit.spring.boot.redis;

import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Warns if Spring Boot's own health indicator of Redis would hang while Redis does not answer: by default for a minute,
 * much longer than an orchestrator waits, although limits go on.
 */
public final class SlowHealthCheck implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(SlowHealthCheck.class);

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final ApplicationContext context;

    public SlowHealthCheck(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Duration timeout = context.getBeansOfType(LettuceConnectionFactory.class).values().stream()
                .map(factory -> factory.getClientConfiguration().getCommandTimeout())
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        if (timeout.compareTo(PATIENCE) > 0
                && Stream.of("redisHealthContributor", "redisHealthIndicator").anyMatch(context::containsBean)) {
            log.warn(
                    "While Redis does not answer, /actuator/health takes {} s and is down, although limits go on: an"
                            + " orchestrator may end this instance. If Redis is for limits only, write"
                            + " management.health.redis.enabled: false; otherwise spring.data.redis.timeout: 1s and"
                            + " spring.data.redis.connect-timeout: 1s",
                    timeout.toSeconds());
        }
    }
}
