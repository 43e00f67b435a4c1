package dev.ratelimit.spring.rules.config;

import dev.ratelimit.spring.RateLimitChange;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/**
 * The policies that need no configuration. They are off until an operator puts them in force on some paths, and nobody
 * sees them until then. A policy of the configuration with the same name takes the place of one of them.
 */
public final class ExtraPolicies {

    private static final String BY_ADDRESS = "extra-by-address";
    private static final String BY_USER = "extra-by-user";
    private static final String SHARED = "extra-shared";

    private static final String LIMIT = "60/minute";

    /** One of them in force for the second time, with other paths and another limit. */
    private static final Pattern AGAIN = Pattern.compile("-[2-9]$");

    private ExtraPolicies() {}

    /** Their names, without the numbers of those that are in force several times. */
    public static List<String> names() {
        return List.of(BY_ADDRESS, BY_USER, SHARED);
    }

    /** Whether one of them has this name. */
    public static boolean contain(String name) {
        return keyOf(name) != null;
    }

    /** The parts of the key; {@code null} if there is no policy of this name. */
    private static @Nullable List<String> keyOf(String name) {
        return switch (AGAIN.matcher(name).replaceFirst("")) {
            case BY_ADDRESS -> List.of("ip");
            case BY_USER -> List.of("user");
            case SHARED -> List.of();
            default -> null;
        };
    }

    /** The policy of this name as it is without changes, which is off; {@code null} if there is none. */
    public static @Nullable PolicyProperties of(String name) {
        List<String> key = keyOf(name);
        return key == null
                ? null
                : new Binder(new MapConfigurationPropertySource(Map.of(
                                "policy.limit", LIMIT, "policy.mode", "off", "policy.key", String.join(",", key))))
                        .bind("policy", PolicyProperties.class)
                        .get();
    }

    /** The policies of the configuration, and those of these names that need none. */
    public static Map<String, PolicyProperties> and(Map<String, PolicyProperties> configured, Set<String> names) {
        Map<String, PolicyProperties> all = new LinkedHashMap<>(configured);
        for (String name : names) {
            PolicyProperties extra = of(name);
            if (extra != null) {
                all.putIfAbsent(name, extra);
            }
        }
        return all;
    }

    /**
     * The changes, of which none puts one of these policies in force everywhere because nobody has said where: whatever
     * happens to its paths, it is off without them.
     */
    static Map<String, RateLimitChange> placed(
            Map<String, PolicyProperties> configured, Map<String, RateLimitChange> changes) {
        Map<String, RateLimitChange> placed = new LinkedHashMap<>(changes);
        placed.replaceAll((name, change) -> lacksPaths(configured, name, change) ? RuleContext.NONE : change);
        return placed;
    }

    /** Whether a change is of one of these policies, and does not say where that is in force. */
    public static boolean lacksPaths(Map<String, PolicyProperties> configured, String name, RateLimitChange change) {
        return change.paths() == null && !configured.containsKey(name) && contain(name);
    }

    /** Describes those whose name is none of these, for JSON. */
    public static List<Map<String, Object>> describe(Set<String> configured) {
        return names().stream()
                .filter(name -> !configured.contains(name))
                .flatMap(name -> Stream.ofNullable(keyOf(name))
                        .map(key -> Map.<String, Object>of("name", name, "limit", LIMIT, "key", key)))
                .toList();
    }
}
