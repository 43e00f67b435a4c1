package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.boot.version.Boot;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Finds the missing dependencies of a store. */
final class StoreDependencyCheck {

    private static final String STARTER = "org.springframework.boot:spring-boot-starter-data-redis";
    private static final String LETTUCE = "io.lettuce:lettuce-core";

    /** One class of each dependency of the store on Redis, and the dependency that contains it. */
    private static final Map<String, String> REDIS = new LinkedHashMap<>();

    static {
        REDIS.put("dev.ratelimit.redis.RedisStore", "dev.ratelimit:ratelimit-redis");
        REDIS.put(Boot.REDIS_DETAILS, STARTER);
        REDIS.put("org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory", STARTER);
        REDIS.put("io.lettuce.core.RedisClient", LETTUCE);
    }

    /** The same of the store in a database. */
    private static final Map<String, String> JDBC =
            Map.of("dev.ratelimit.jdbc.JdbcStore", "dev.ratelimit:ratelimit-jdbc");

    private StoreDependencyCheck() {}

    static RateLimitConfigurationException mistake(
            RateLimitProperties.Store.Type type, @Nullable ClassLoader classLoader) {
        List<String> missing = (type == RateLimitProperties.Store.Type.JDBC ? JDBC : REDIS)
                .entrySet().stream()
                        .filter(entry -> !ClassUtils.isPresent(entry.getKey(), classLoader))
                        .map(Map.Entry::getValue)
                        .distinct()
                        .collect(Collectors.toCollection(ArrayList::new));
        if (missing.contains(STARTER)) {
            missing.remove(LETTUCE); // the starter brings it
        }
        String name = type.name().toLowerCase(Locale.ROOT);
        String reason = missing.isEmpty()
                ? name + " must be set when code is generated ahead of time, and it was not; generate the code again"
                : name + " needs a dependency that is missing; add " + String.join(" and ", missing);
        return new RateLimitConfigurationException(RemoteStoreConfiguration.TYPE, name, reason);
    }
}
