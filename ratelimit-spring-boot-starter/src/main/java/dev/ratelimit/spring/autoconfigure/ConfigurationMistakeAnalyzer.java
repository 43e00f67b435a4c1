package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/** Tells of a mistake in a policy or an annotation: what is written where, and what to write instead. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ConfigurationMistakeAnalyzer extends AbstractFailureAnalyzer<RateLimitConfigurationException> {

    private static final String PREFIX = "ratelimit.";
    private static final int MOST_ORIGINS = 5;

    private final Environment environment;

    ConfigurationMistakeAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable root, RateLimitConfigurationException mistake) {
        StringBuilder description = new StringBuilder("A rate limit is not configured right:\n\n    ")
                .append(mistake.where())
                .append(": ")
                .append(mistake.reason());
        if (mistake.written() != null) {
            description.append("\n\n    Value: ").append(printable(mistake.written()));
        }
        origins(mistake.where())
                .forEach(origin -> description.append("\n    Origin: ").append(origin));
        return new FailureAnalysis(description.toString(), "Correct it, as the message says.", mistake);
    }

    /** Where the property is written; or what is below it, in any spelling, where it is a group. */
    private List<Origin> origins(String property) {
        List<Origin> origins = new ArrayList<>();
        if (property.startsWith(PREFIX)) {
            ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
            for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
                add(Origin.from(source.getConfigurationProperty(name)), origins);
            }
            if (origins.isEmpty() && environment instanceof ConfigurableEnvironment all) {
                all.getPropertySources().forEach(source -> addBelow(name, source, origins));
            }
        }
        return origins;
    }

    private static void addBelow(ConfigurationPropertyName name, PropertySource<?> source, List<Origin> origins) {
        if (source instanceof EnumerablePropertySource<?> listed) {
            for (String written : listed.getPropertyNames()) {
                if (written.startsWith(PREFIX) && name.isAncestorOf(ConfigurationPropertyName.adapt(written, '.'))) {
                    add(OriginLookup.getOrigin(source, written), origins);
                }
            }
        }
    }

    private static void add(@Nullable Origin origin, List<Origin> origins) {
        if (origin != null && origins.size() < MOST_ORIGINS && !origins.contains(origin)) {
            origins.add(origin);
        }
    }

    private static String printable(String value) {
        String shown = value.length() > 100 ? value.substring(0, 100) + "..." : value;
        return shown.replaceAll("[^ -~]", "?");
    }
}
