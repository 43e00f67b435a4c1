package dev.ratelimit.spring.rules.mistake;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Reports unknown properties under {@code ratelimit}, and which ones were probably meant. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    private static final ConfigurationPropertyName ROOT = KnownProperties.ROOT;

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, UnboundConfigurationPropertiesException failure) {
        List<ConfigurationProperty> unknown = failure.getUnboundProperties().stream()
                .filter(property -> ROOT.isAncestorOf(property.getName()))
                .toList();
        if (unknown.isEmpty()) {
            return null;
        }
        StringBuilder description = new StringBuilder("Unknown property under 'ratelimit':");
        unknown.forEach(property -> describe(property, description.append('\n')));
        return new FailureAnalysis(description.toString(), "Correct the name or remove the property.", failure);
    }

    private static void describe(ConfigurationProperty property, StringBuilder description) {
        KnownProperties.Unknown unknown = KnownProperties.firstUnknown(KnownProperties.elements(property.getName()));
        String meant = unknown == null ? null : unknown.meant();
        description
                .append("\n    ")
                .append(property.getName())
                .append(": ")
                .append(
                        meant != null
                                ? "did you mean '" + meant + "'?"
                                : alternatives(unknown == null ? List.of() : unknown.known()));
        description.append("\n    Origin: ").append(property.getOrigin());
    }

    private static String alternatives(List<String> known) {
        return known.isEmpty()
                ? "the property above it takes a value and has no properties of its own"
                : "the properties here are " + String.join(", ", known)
                        + (known.contains("policies") ? "; write the name of a policy below policies" : "");
    }
}
