package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Reports a mistake: what is wrong, the value, where it is written, and what to write instead. */
public final class MistakeReport {

    private static final String POLICIES = KnownProperties.POLICIES + ".";
    private static final int MAX_ORIGINS = 5;

    private final List<Written> all;

    MistakeReport(Environment environment) {
        this.all = Written.in(environment);
    }

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
                .flatMap(name -> all.stream().filter(other -> isNamed(other, name)))
                .map(Written::value)
                .filter(whole -> withoutSeparators(whole).equals(withoutSeparators(value)))
                .findFirst()
                .orElse(value);
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
    private Stream<String> origins(String property, @Nullable String value) {
        String policy = property.startsWith(POLICIES) ? parent(flat(property)) : "";
        return Stream.<Stream<Written>>of(
                        Stream.concat(
                                all.stream().filter(other -> other.text().equals(property)),
                                all.stream().filter(other -> isNamed(other, property))),
                        below(flat(property)).filter(other -> other.value().equals(value)),
                        below(flat(property)),
                        policy.isEmpty() ? Stream.of() : all.stream().filter(other -> isNamed(other, policy)),
                        policy.isEmpty() ? Stream.of() : below(policy).limit(1))
                .map(found ->
                        found.map(other -> other.origin().toString()).distinct().toList())
                .filter(found -> !found.isEmpty())
                .findFirst()
                .stream()
                .flatMap(List::stream)
                .limit(MAX_ORIGINS);
    }

    private Stream<Written> below(String flat) {
        return all.stream().filter(other -> flat(other.name().toString()).startsWith(flat + "."));
    }

    /** Whether it has this name in any spelling. Variables have dots in place of hyphens, too. */
    private static boolean isNamed(Written property, String name) {
        return flat(property.name().toString())
                .replace(".", "")
                .equals(flat(name).replace(".", ""));
    }

    /** The name without characters in which spellings differ: brackets, hyphens and case. */
    private static String flat(String property) {
        return property.toLowerCase(Locale.ROOT).replace('[', '.').replaceAll("[^a-z0-9.]", "");
    }

    private static String printable(String value) {
        String shown = value.length() > 100 ? value.substring(0, 100) + "..." : value;
        return shown.replaceAll("[^ -~]", "?");
    }
}
