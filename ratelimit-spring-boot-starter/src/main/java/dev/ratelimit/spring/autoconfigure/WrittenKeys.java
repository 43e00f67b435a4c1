package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/** Finds names of overrides and plans of which Spring Boot would drop characters, so that they would be for nobody. */
final class WrittenKeys {

    private static final Pattern KEY = Pattern.compile(
            "ratelimit\\.policies(?:\\.[^.\\[]+|\\[[^]]*])\\.(?:overrides|plans)\\.([^\\[].*?)(?:\\.limit|\\.burst)?");
    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9.-]+");

    private WrittenKeys() {}

    /**
     * Looks at all names that can be listed.
     *
     * @throws RateLimitConfigurationException at the first one that has to be in brackets
     */
    static void check(Environment environment) {
        if (environment instanceof ConfigurableEnvironment all) {
            for (PropertySource<?> source : all.getPropertySources()) {
                if (source instanceof EnumerablePropertySource<?> listed) {
                    for (String name : listed.getPropertyNames()) {
                        check(name);
                    }
                }
            }
        }
    }

    private static void check(String name) {
        Matcher matcher = KEY.matcher(name);
        if (matcher.matches() && !KEPT.matcher(matcher.group(1)).matches()) {
            throw new RateLimitConfigurationException(
                    name,
                    null,
                    "Spring Boot drops characters of '" + matcher.group(1) + "'; write it in brackets: \"["
                            + matcher.group(1) + "]\"");
        }
    }
}
