package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.config.PolicyProperties;
import dev.ratelimit.spring.config.RateLimitProperties;
import java.lang.reflect.RecordComponent;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Tells of properties under {@code ratelimit} that there are not, and which ones were probably meant. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("ratelimit");
    private static final ConfigurationPropertyName POLICIES = ROOT.append("policies");
    private static final int POLICY_ELEMENTS = 3;

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, UnboundConfigurationPropertiesException failure) {
        List<ConfigurationProperty> unknown = failure.getUnboundProperties().stream()
                .filter(property -> ROOT.isAncestorOf(property.getName()))
                .toList();
        if (unknown.isEmpty()) {
            return null;
        }
        StringBuilder description = new StringBuilder("There is no such property, so it would limit nothing:\n");
        unknown.forEach(property -> describe(property, description));
        return new FailureAnalysis(description.toString(), "Correct the name, or remove the property.", failure);
    }

    private static void describe(ConfigurationProperty property, StringBuilder description) {
        ConfigurationPropertyName name = property.getName();
        boolean ofPolicy = POLICIES.isAncestorOf(name) && name.getNumberOfElements() > POLICY_ELEMENTS;
        ConfigurationPropertyName parent = name.chop(ofPolicy ? POLICY_ELEMENTS : 1);
        String rest = name.subName(parent.getNumberOfElements()).toString();
        List<String> known = names(ofPolicy ? PolicyProperties.class : RateLimitProperties.class)
                .toList();
        description.append("\n    ").append(name).append(": ");
        known.stream()
                .min(Comparator.comparingInt(candidate -> distance(rest, candidate)))
                .filter(closest -> distance(rest, closest) <= Math.max(2, rest.length() / 3))
                .ifPresentOrElse(
                        closest -> description
                                .append("did you mean '")
                                .append(closest)
                                .append("'?"),
                        () -> description.append("there are ").append(String.join(", ", known)));
        description.append("\n    Origin: ").append(property.getOrigin()).append('\n');
    }

    /** The names that a record binds, those of nested records with dots. */
    private static Stream<String> names(Class<?> type) {
        return Stream.of(type.getRecordComponents()).flatMap(component -> names(component));
    }

    private static Stream<String> names(RecordComponent component) {
        String name = DataObjectPropertyName.toDashedForm(component.getName());
        return component.getType().isRecord()
                ? names(component.getType()).map(nested -> name + "." + nested)
                : Stream.of(name);
    }

    /** Levenshtein's: how many letters have to be put in, taken out or replaced. */
    private static int distance(String a, String b) {
        int[] previous = new int[b.length() + 1];
        int[] current = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            int[] swap = previous;
            previous = current;
            current = swap;
        }
        return previous[b.length()];
    }
}
