package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.EnvironmentPrefix;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.BoundConfigurationProperties;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Finds misspelt environment variables and system properties: Spring Boot ignores those that it cannot bind. Others may
 * use variables that begin with {@code RATELIMIT_}, so only those of policies stop the start, and those with a name
 * similar to another property cause a warning.
 */
public final class UnreadVariables {

    private static final Logger log = LoggerFactory.getLogger(UnreadVariables.class);

    private static final String ENVIRONMENT = "environment variable";

    private static final Map<String, String> KINDS = Map.of(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            ENVIRONMENT,
            StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME,
            "system property");

    private static final Pattern NAME = Pattern.compile("rate[_-]?limit[._]([^._].*)");
    private static final Pattern APART = Pattern.compile("(?i)^rate_limit_");
    private static final Pattern AS_VARIABLE = Pattern.compile("RATE_?LIMIT_[A-Z0-9_]+");
    private static final Pattern INDEX = Pattern.compile("[_\\[](\\d{1,9})]?$");

    private UnreadVariables() {}

    /**
     * Checks all variables with a name below ours, after binding. Values, which may be secrets, are not read.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static void check(ApplicationContext context) {
        BoundConfigurationProperties bound = BoundConfigurationProperties.get(context);
        if (bound != null && context.getEnvironment() instanceof ConfigurableEnvironment environment) {
            Map<ConfigurationPropertyName, ConfigurationProperty> names = bound.getAll();
            environment.getPropertySources().stream()
                    .filter(EnumerablePropertySource.class::isInstance)
                    .forEach(source -> check((EnumerablePropertySource<?>) source, names));
        }
    }

    private static void check(
            EnumerablePropertySource<?> source, Map<ConfigurationPropertyName, ConfigurationProperty> bound) {
        String kind = KINDS.get(source.getName());
        Set<String> read = read(source, bound.keySet());
        if (!ENVIRONMENT.equals(kind)) {
            checkElsewhere(source, kind, read, bound);
        }
        if (kind == null) {
            return;
        }
        String prefix = prefix(source);
        for (String variable : source.getPropertyNames()) {
            boolean prefixed = variable.toLowerCase(Locale.ROOT).startsWith(prefix);
            if (prefixed && !read.contains(variable)) {
                checkUnread(kind, variable, elements(variable.substring(prefix.length())));
            } else if (!prefixed && KnownProperties.isProperty(elements(variable))) {
                report(
                        elements(variable).get(0).equals("policies"),
                        kind + " " + variable,
                        "Spring Boot reads " + prefix.toUpperCase(Locale.ROOT) + variable + "; rename it");
            }
        }
    }

    /** What the application's variables begin with, in lower case; empty unless it has set a prefix. */
    private static String prefix(EnumerablePropertySource<?> source) {
        String prefix = EnvironmentPrefix.of(source);
        return prefix == null || prefix.isEmpty()
                ? ""
                : prefix.toLowerCase(Locale.ROOT).replaceFirst("[._-]?$", "_");
    }

    /**
     * Files, config trees and system properties with names of variables, which Spring Boot reads only from the
     * environment. If the property has a placeholder, that may refer to such a name.
     */
    private static void checkElsewhere(
            EnumerablePropertySource<?> source,
            @Nullable String kind,
            Set<String> read,
            Map<ConfigurationPropertyName, ConfigurationProperty> bound) {
        for (String name : source.getPropertyNames()) {
            String variable = kind == null ? name : name.toUpperCase(Locale.ROOT);
            List<String> elements = AS_VARIABLE.matcher(variable).matches() ? elements(name) : List.of();
            if (!elements.isEmpty()
                    && !read.contains(name)
                    && (elements.get(0).equals("policies") || KnownProperties.isProperty(elements))
                    && bound.values().stream().noneMatch(property -> mayReferTo(elements, property))) {
                report(
                        elements.get(0).equals("policies"),
                        kind == null ? "property " + name + " of " + source.getName() : kind + " " + name,
                        "Spring Boot reads such a name only from the environment; write it with dots, as in"
                                + " ratelimit.policies.login.limit");
            }
        }
    }

    private static boolean mayReferTo(List<String> words, ConfigurationProperty property) {
        ConfigurationPropertyName name = property.getName();
        return KnownProperties.ROOT.isAncestorOf(name)
                && String.join("", KnownProperties.elements(name)).equals(String.join("", words))
                && String.valueOf(property.getValue()).contains("${");
    }

    private static void checkUnread(String kind, String variable, List<String> elements) {
        if (elements.isEmpty()) {
            return;
        }
        String first = elements.get(0);
        Matcher apart = APART.matcher(variable);
        if (kind.equals(ENVIRONMENT) && apart.find()) {
            // many programs have their own variables there, so this does not guess
            if (KnownProperties.isProperty(elements)) {
                report(
                        first.equals("policies"),
                        kind + " " + variable,
                        "Spring Boot reads " + apart.replaceFirst("RATELIMIT_") + "; rename it");
            }
            return;
        }
        KnownProperties.Unknown unknown = KnownProperties.firstUnknown(elements);
        boolean ofPolicies = first.equals("policies");
        if (unknown == null || (!ofPolicies && KnownProperties.isProperty(elements))) {
            return;
        }
        String near = unknown.near();
        boolean misspeltPolicies =
                "policies".equals(near) && unknown.rest().size() == elements.size() && elements.size() > 1;
        if (ofPolicies || near != null) {
            report(
                    ofPolicies || misspeltPolicies,
                    kind + " " + variable,
                    "no property has this name; " + remedy(ofPolicies ? unknown.closest() : near));
        }
    }

    private static void report(boolean ofPolicies, String where, String reason) {
        if (ofPolicies) {
            throw new RateLimitConfigurationException(where, null, reason);
        }
        log.warn("Rate limits do not read the {}: {}", where, reason);
    }

    private static String remedy(@Nullable String closest) {
        return closest != null ? "did you mean '" + closest + "'?" : "correct it, or remove the variable";
    }

    /** The variables that a property is read from, or would be if no other source had it. */
    private static Set<String> read(EnumerablePropertySource<?> source, Set<ConfigurationPropertyName> bound) {
        ConfigurationPropertySource all = ConfigurationPropertySource.from(source);
        String prefix = EnvironmentPrefix.of(source);
        ConfigurationPropertySource properties = all == null ? null : all.withPrefix(prefix);
        Set<String> indexes = Stream.of(source.getPropertyNames())
                .map(INDEX::matcher)
                .filter(Matcher::find)
                .map(index -> "[" + index.group(1) + "]")
                .collect(Collectors.toSet());
        return bound.stream()
                .filter(KnownProperties.ROOT::isAncestorOf)
                .flatMap(name -> forms(name, indexes))
                .distinct()
                .map(name -> properties == null ? null : properties.getConfigurationProperty(name))
                .flatMap(property -> property != null && property.getOrigin() instanceof PropertySourceOrigin origin
                        ? Stream.of(origin.getPropertyName())
                        : Stream.empty())
                .collect(Collectors.toSet());
    }

    /** The name and, for a list, which a source may contain as a whole or by element, all its possible names here. */
    private static Stream<ConfigurationPropertyName> forms(ConfigurationPropertyName name, Set<String> indexes) {
        ConfigurationPropertyName whole = KnownProperties.whole(name);
        return KnownProperties.typeOf(whole) == List.class
                ? Stream.concat(Stream.of(whole), indexes.stream().map(whole::append))
                : Stream.of(name);
    }

    /** The elements after the root, in lower case and without hyphens; empty for another root. */
    private static List<String> elements(String variable) {
        Matcher name = NAME.matcher(variable.toLowerCase(Locale.ROOT));
        return name.matches() ? List.of(name.group(1).replace("-", "").split("[._\\[\\]]+")) : List.of();
    }
}
