package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

/**
 * Stops the start on a version of Spring Boot that a starter is not for, before classes of another version are missing.
 * Uses only what all versions have.
 */
final class SpringBootVersionCheck implements ApplicationContextInitializer<ConfigurableApplicationContext>, Ordered {

    private static final int UNKNOWN = 0;

    /** Starters for some versions of Spring Boot: {@code first} and newer ones, but not {@code end}. */
    private record Starters(String prefix, String first, int from, int end) {

        boolean fit(int version) {
            return from <= version && version < end;
        }
    }

    private static final List<Starters> ALL = List.of(
            new Starters("ratelimit-spring-boot", "4", 4_000, Integer.MAX_VALUE),
            new Starters("ratelimit-spring-boot3", "3.5", 3_005, 4_000));

    private static final List<String> SUFFIXES = List.of("-starter", "-starter-webflux");

    /** Before other initializers, which may use what is missing. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        ClassLoader loader = context.getClassLoader();
        ClassLoader used = loader == null ? ClassUtils.getDefaultClassLoader() : loader;
        if (used != null) {
            check(in(used), SpringBootVersion.getVersion());
        }
    }

    /** The starters in jars; those that an IDE has built are not found. */
    static Set<String> in(ClassLoader loader) {
        return ALL.stream()
                .flatMap(starters -> SUFFIXES.stream().map(starters.prefix::concat))
                .filter(name -> loader.getResource("META-INF/maven/dev.ratelimit/" + name + "/pom.properties") != null)
                .collect(Collectors.toSet());
    }

    /**
     * Checks a version of Spring Boot, such as {@code 3.5.7}.
     *
     * @param found the starters that are there
     */
    static void check(Set<String> found, @Nullable String version) {
        int number = number(version);
        if (number == UNKNOWN) {
            return;
        }
        for (Starters starters : ALL) {
            for (String suffix : SUFFIXES) {
                if (!starters.fit(number) && found.contains(starters.prefix + suffix)) {
                    throw new RateLimitConfigurationException(
                            starters.prefix + suffix,
                            null,
                            "this starter needs Spring Boot " + starters.first
                                    + ", and the application runs on Spring Boot " + version + "; "
                                    + remedy(found, suffix, number));
                }
            }
        }
    }

    private static String remedy(Set<String> found, String suffix, int number) {
        return ALL.stream()
                .filter(starters -> starters.fit(number))
                .map(starters -> starters.prefix + suffix)
                .map(right ->
                        found.contains(right) ? "remove it, since " + right + " is there" : "use " + right + " instead")
                .findFirst()
                .orElse("upgrade Spring Boot or remove the starter");
    }

    /** The first two numbers of a version in one, such as 3005. */
    private static int number(@Nullable String version) {
        String[] parts = version == null ? new String[0] : version.split("\\.", 3);
        return parts.length < 2 ? UNKNOWN : Integer.parseInt(parts[0]) * 1_000 + Integer.parseInt(parts[1]);
    }
}
