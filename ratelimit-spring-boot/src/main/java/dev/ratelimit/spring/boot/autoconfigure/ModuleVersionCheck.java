package dev.ratelimit.spring.boot.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/** Warns if modules of different versions are together, which were not tested with each other. */
final class ModuleVersionCheck implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final Logger log = LoggerFactory.getLogger(ModuleVersionCheck.class);

    /** One class of each module, and the module. */
    private static final Map<String, String> MODULES = Map.of(
            "dev.ratelimit.RateLimiter", "ratelimit-core",
            "dev.ratelimit.spring.RateLimited", "ratelimit-spring",
            "dev.ratelimit.redis.RedisStore", "ratelimit-redis",
            "dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration", "ratelimit-spring-boot-starter",
            "dev.ratelimit.test.FakeTicker", "ratelimit-test");

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        String own = getClass().getPackage().getImplementationVersion();
        Map<String, String> others = new LinkedHashMap<>();
        MODULES.forEach((type, module) -> {
            String version = versionOf(type, context.getClassLoader());
            if (version != null) {
                others.put(module, version);
            }
        });
        mistakes(own, others).forEach(log::warn);
    }

    /** The version in the manifest of the class's jar; {@code null} if there is none, such as in an IDE. */
    private static @Nullable String versionOf(String type, @Nullable ClassLoader loader) {
        return ClassUtils.isPresent(type, loader)
                ? ClassUtils.resolveClassName(type, loader).getPackage().getImplementationVersion()
                : null;
    }

    /**
     * What does not fit together, as sentences.
     *
     * @param own the version of this module, if it is known
     * @param others the known versions of other modules
     */
    static List<String> mistakes(@Nullable String own, Map<String, String> others) {
        return others.entrySet().stream()
                .filter(module -> own != null && !Objects.equals(module.getValue(), own))
                .map(module -> module.getKey() + " has the version " + module.getValue()
                        + ", but ratelimit-spring-boot " + own
                        + ". Use the same version for all, which ratelimit-bom manages")
                .sorted()
                .toList();
    }
}
