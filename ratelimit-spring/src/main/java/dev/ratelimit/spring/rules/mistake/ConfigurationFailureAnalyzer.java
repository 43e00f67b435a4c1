package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Reports why the start fails because of the configuration: a mistake, a property under {@code ratelimit} that is unknown,
 * or a value there that does not have the type of its property.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<Throwable> {

    private static final ConfigurationPropertyName ROOT = KnownProperties.ROOT;

    private static final Map<Class<?>, String> EXAMPLES = Map.of(
            Boolean.class, "true or false",
            Integer.class, "a whole number up to 2147483647",
            Long.class, "a whole number",
            Double.class, "a number",
            Duration.class, "a duration, such as 50ms, 10s, 5m or 1h",
            ZoneId.class, "a time zone, such as Europe/Berlin or UTC");

    private final Environment environment;

    ConfigurationFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, Throwable failure) {
        RateLimitConfigurationException mistake = findCause(failure, RateLimitConfigurationException.class);
        if (mistake != null) {
            return new MistakeReport(environment).of(mistake, mistake);
        }
        UnboundConfigurationPropertiesException unbound =
                findCause(failure, UnboundConfigurationPropertiesException.class);
        if (unbound != null) {
            return unknown(unbound);
        }
        BindException unreadable = findCause(failure, BindException.class);
        return unreadable == null ? null : unreadable(unreadable);
    }

    private static @Nullable FailureAnalysis unknown(UnboundConfigurationPropertiesException failure) {
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

    private @Nullable FailureAnalysis unreadable(BindException failure) {
        BindException innermost = innermost(failure);
        if (!ROOT.isAncestorOf(innermost.getName())) {
            return null;
        }
        String name = innermost.getName().toString();
        String value = environment.getProperty(name);
        String reason = (value == null ? "the value below it" : Quotation.of(value)) + " cannot be read; "
                + example(innermost.getTarget().getType().toClass(), value);
        return new MistakeReport(environment).of(new RateLimitConfigurationException(name, value, reason), failure);
    }

    private static BindException innermost(BindException failure) {
        BindException innermost = failure;
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException bind) {
                innermost = bind;
            }
        }
        return innermost;
    }

    private static String example(Class<?> type, @Nullable String value) {
        if (type == PolicyProperties.class || type == PolicyProperties.Plan.class) {
            String permits = value != null && value.matches("\\d{1,18}") ? value : "5";
            return "write a limit with a period, such as " + permits + "/minute";
        }
        if (type.isEnum()) {
            return "write "
                    + choice(Stream.of(type.getEnumConstants())
                            .map(constant -> PropertyName.of((Enum<?>) constant))
                            .toList());
        }
        String example = EXAMPLES.get(ClassUtils.resolvePrimitiveIfNecessary(type));
        return example != null ? "write " + example : "indent its properties below it, one per line";
    }

    private static String choice(List<String> values) {
        int last = values.size() - 1;
        return last == 0
                ? values.get(0)
                : values.stream().limit(last).collect(Collectors.joining(", ")) + " or " + values.get(last);
    }
}
