package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.version.Boot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Finds the missing dependencies of the store on Redis. */
final class RedisDependencyCheck {

    private static final String STARTER = "org.springframework.boot:spring-boot-starter-data-redis";
    private static final String LETTUCE = "io.lettuce:lettuce-core";

    /** One class of each dependency, and the dependency that contains it. */
    private static final Map<String, String> NEEDED = new LinkedHashMap<>();

    static {
        NEEDED.put("dev.ratelimit.redis.RedisStore", "dev.ratelimit:ratelimit-redis");
        NEEDED.put(Boot.REDIS_DETAILS, STARTER);
        NEEDED.put("org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory", STARTER);
        NEEDED.put("io.lettuce.core.RedisClient", LETTUCE);
    }

    private RedisDependencyCheck() {}

    static RateLimitConfigurationException mistake(@Nullable ClassLoader classLoader) {
        List<String> missing = NEEDED.entrySet().stream()
                .filter(entry -> !ClassUtils.isPresent(entry.getKey(), classLoader))
                .map(Map.Entry::getValue)
                .distinct()
                .collect(Collectors.toCollection(ArrayList::new));
        if (missing.contains(STARTER)) {
            missing.remove(LETTUCE); // the starter brings it
        }
        String reason = missing.isEmpty()
                ? "redis must be set when code is generated ahead of time, and it was not; generate the code again"
                : "redis needs a dependency that is missing; add " + String.join(" and ", missing);
        return new RateLimitConfigurationException(RedisStoreConfiguration.TYPE, "redis", reason);
    }
}
