package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Tells of a mistake in a policy or an annotation: what is written where, and what to write instead. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ConfigurationMistakeAnalyzer extends AbstractFailureAnalyzer<RateLimitConfigurationException> {

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
        Origin origin = origin(mistake.where());
        if (origin != null) {
            description.append("\n    Origin: ").append(origin);
        }
        return new FailureAnalysis(description.toString(), "Correct it, as the message says.", mistake);
    }

    private @Nullable Origin origin(String property) {
        if (!ConfigurationPropertyName.isValid(property)) {
            return null;
        }
        ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            Origin origin = Origin.from(source.getConfigurationProperty(name));
            if (origin != null) {
                return origin;
            }
        }
        return null;
    }

    private static String printable(String value) {
        String shown = value.length() > 100 ? value.substring(0, 100) + "..." : value;
        return shown.replaceAll("[^ -~]", "?");
    }
}
