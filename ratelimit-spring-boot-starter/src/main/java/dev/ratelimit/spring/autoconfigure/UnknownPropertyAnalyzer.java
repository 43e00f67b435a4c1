package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.config.RateLimitProperties;
import java.lang.reflect.RecordComponent;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;

/** Tells of properties under {@code ratelimit} that there are not, and which ones were probably meant. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("ratelimit");

    /** The element of a name that is not known, and the type that has no component of it. */
    private record Unknown(Class<?> type, String element) {}

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
        Unknown unknown = locate(ResolvableType.forClass(RateLimitProperties.class), elements(property.getName()));
        String written = unknown.element();
        List<String> known =
                components(unknown.type()).map(UnknownPropertyAnalyzer::nameOf).toList();
        description.append("\n    ").append(property.getName()).append(": ");
        known.stream()
                .min(Comparator.comparingInt(candidate -> distance(written, candidate)))
                .filter(closest -> distance(written, closest) <= Math.max(2, written.length() / 4))
                .ifPresentOrElse(
                        closest -> description
                                .append("did you mean '")
                                .append(closest)
                                .append("'?"),
                        () -> description.append(
                                known.isEmpty() ? "nothing can stand there" : "there is " + String.join(", ", known)));
        description.append("\n    Origin: ").append(property.getOrigin()).append('\n');
    }

    /** Follows the elements as far as there is something of that name. */
    private static Unknown locate(ResolvableType type, List<String> elements) {
        ResolvableType bound = bound(type.toClass(), elements.get(0));
        if (bound == null || elements.size() == 1) {
            return new Unknown(type.toClass(), elements.get(0));
        }
        boolean map = bound.toClass() == Map.class && elements.size() > 2;
        return map
                ? locate(bound.getGeneric(1), elements.subList(2, elements.size()))
                : locate(bound, elements.subList(1, elements.size()));
    }

    /** What comes after {@code ratelimit}. */
    private static List<String> elements(ConfigurationPropertyName name) {
        return IntStream.range(ROOT.getNumberOfElements(), name.getNumberOfElements())
                .mapToObj(i -> name.getElement(i, Form.DASHED))
                .toList();
    }

    /** The type of a record's component of this name, or {@code null}. */
    private static @Nullable ResolvableType bound(Class<?> type, String name) {
        return components(type)
                .filter(component -> nameOf(component).equals(name))
                .map(component -> ResolvableType.forMethodReturnType(component.getAccessor()))
                .findFirst()
                .orElse(null);
    }

    private static Stream<RecordComponent> components(Class<?> type) {
        return type.isRecord() ? Stream.of(type.getRecordComponents()) : Stream.empty();
    }

    private static String nameOf(RecordComponent component) {
        return DataObjectPropertyName.toDashedForm(component.getName());
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
