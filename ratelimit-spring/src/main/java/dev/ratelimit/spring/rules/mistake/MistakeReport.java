package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.util.StringUtils;

/** Reports a mistake: what is wrong, the value, where it is written, and what to write instead. */
public record MistakeReport(Environment environment) {

    private static final ConfigurationPropertyName ROOT = KnownProperties.ROOT;
    private static final ConfigurationPropertyName POLICIES = KnownProperties.POLICIES;
    private static final int MAX_ORIGINS = 5;

    /** What is reported at the start for this failure. */
    public static String textOf(Throwable failure, Environment environment) {
        FailureAnalysis analysis = new ConfigurationFailureAnalyzer(environment).analyze(failure);
        return analysis == null
                ? String.valueOf(failure.getMessage())
                : analysis.getDescription() + "\n\n" + analysis.getAction();
    }

    /** Reports the mistakes that caused the failure. */
    FailureAnalysis of(RateLimitConfigurationException mistake, Throwable failure) {
        List<RateLimitConfigurationException> mistakes = Stream.concat(
                        Stream.of(mistake),
                        Stream.of(mistake.getSuppressed())
                                .filter(RateLimitConfigurationException.class::isInstance)
                                .map(RateLimitConfigurationException.class::cast))
                .toList();
        StringBuilder description = new StringBuilder("Invalid rate limit configuration:");
        mistakes.forEach(each -> describe(each, description));
        String actions = mistakes.stream()
                .map(each -> (mistakes.size() == 1 ? "" : each.where() + ": ") + action(each))
                .collect(Collectors.joining("\n"));
        return new FailureAnalysis(description.toString(), actions, failure);
    }

    private void describe(RateLimitConfigurationException mistake, StringBuilder description) {
        String written = mistake.written();
        description
                .append("\n\n    ")
                .append(Quotation.message(mistake.where()))
                .append(": ")
                .append(mistake.reason());
        if (written != null) {
            String shown = asWritten(mistake.where(), written);
            description.append("\n\n    Value: ").append(shown.isEmpty() ? "(empty)" : printable(shown));
        }
        origins(mistake.where(), written)
                .forEach(origin -> description.append("\n    Origin: ").append(origin));
    }

    /** The value with the commas at which Spring Boot split it. */
    private String asWritten(String property, String value) {
        return Stream.of(property, parent(property))
                .map(name -> ConfigurationPropertyName.adapt(name, '.'))
                .filter(MistakeReport::isOurs)
                .flatMap(this::values)
                .filter(whole -> withoutSeparators(whole).equals(withoutSeparators(value)))
                .findFirst()
                .orElse(value);
    }

    private Stream<String> values(ConfigurationPropertyName name) {
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .map(source -> source.getConfigurationProperty(name))
                .filter(Objects::nonNull)
                .map(property -> String.valueOf(property.getValue()));
    }

    private static String withoutSeparators(String value) {
        return value.replaceAll("[,; ]", "");
    }

    private static String parent(String property) {
        return property.substring(0, Math.max(0, property.lastIndexOf('.')));
    }

    private static String action(RateLimitConfigurationException mistake) {
        String remedy = mistake.remedy();
        if (remedy != null) {
            return StringUtils.capitalize(remedy) + (remedy.endsWith("?") ? "" : ".");
        }
        return mistake.where().contains("@") ? "Correct the annotation." : "Correct the value.";
    }

    /**
     * Where the property is written. For a list or a group: the element with the value, or all properties below it. If
     * the property is not written: what is written instead, such as the policy itself for its limit, or else another
     * property.
     */
    private Set<String> origins(String property, @Nullable String written) {
        Set<String> origins = new LinkedHashSet<>();
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        addWritten(property::equals, any -> true, origins);
        if (isOurs(name)) {
            String flat = flat(property);
            String group = parent(flat);
            for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
                add(Origin.from(source.getConfigurationProperty(name)), origins);
            }
            addWritten(other -> flat(other).equals(flat), any -> true, origins);
            if (origins.isEmpty() && written != null) {
                addWritten(other -> flat(other).startsWith(flat + "."), written::equals, origins);
            }
            if (origins.isEmpty()) {
                addWritten(other -> flat(other).startsWith(flat + "."), any -> true, origins);
            }
            if (origins.isEmpty() && POLICIES.isAncestorOf(name)) {
                addWritten(other -> flat(other).equals(group), any -> true, origins);
            }
            if (origins.isEmpty() && POLICIES.isAncestorOf(name)) {
                addWritten(other -> flat(other).startsWith(group + "."), any -> true, origins);
                return origins.stream().limit(1).collect(Collectors.toSet());
            }
        }
        return origins;
    }

    /** The name without characters in which spellings differ: brackets, hyphens and case. */
    private static String flat(String property) {
        return property.toLowerCase(Locale.ROOT).replace('[', '.').replaceAll("[^a-z0-9.]", "");
    }

    /** Adds the origins of properties with matching names and values. */
    private void addWritten(Predicate<String> names, Predicate<String> values, Set<String> origins) {
        if (environment instanceof ConfigurableEnvironment all) {
            for (PropertySource<?> source : all.getPropertySources()) {
                if (source instanceof EnumerablePropertySource<?> listed) {
                    Stream.of(listed.getPropertyNames())
                            .filter(names)
                            .filter(property -> values.test(String.valueOf(listed.getProperty(property))))
                            .forEach(property -> add(OriginLookup.getOrigin(source, property), origins));
                }
            }
        }
    }

    private static boolean isOurs(ConfigurationPropertyName name) {
        return name.equals(ROOT) || ROOT.isAncestorOf(name);
    }

    private static void add(@Nullable Origin origin, Set<String> origins) {
        if (origin != null && origins.size() < MAX_ORIGINS) {
            origins.add(origin.toString());
        }
    }

    private static String printable(String value) {
        String shown = value.length() > 100 ? value.substring(0, 100) + "..." : value;
        return shown.replaceAll("[^ -~]", "?");
    }
}
