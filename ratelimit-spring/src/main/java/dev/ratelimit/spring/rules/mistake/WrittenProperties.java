package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.text.Quotation;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Finds mistakes in properties as written that are no longer visible after binding. */
public final class WrittenProperties {

    private static final ConfigurationPropertyName ROOT = KnownProperties.ROOT;
    private static final ConfigurationPropertyName POLICIES = KnownProperties.POLICIES;
    private static final ConfigurationPropertyName OVERRIDES = ConfigurationPropertyName.of("overrides");
    private static final ConfigurationPropertyName PLANS = ConfigurationPropertyName.of("plans");

    /**
     * The root and the group of policies, the name of a policy, and the group and the name of an override or a plan.
     */
    private static final Pattern KEY = Pattern.compile("([^.\\[]+\\.[^.\\[]+)(?:\\.(?<policy>[^.\\[]+)|\\[[^]]*])"
            + "(?:\\.(?<group>[^.\\[]+)\\.(?<key>[^\\[].*?)(?:\\.limit|\\.burst)?|[.\\[].*)?");

    private static final Pattern KEPT_OF_POLICY = Pattern.compile("[A-Za-z0-9_-]+");
    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9._-]+");

    private static final Set<String> OF_POLICIES = Stream.of(PolicyProperties.class.getRecordComponents())
            .map(RecordComponent::getName)
            .map(name -> name.toLowerCase(Locale.ROOT))
            .collect(Collectors.toSet());

    /** What Spring Boot reads as a number, other than 0, which is the same in all units. */
    private static final Pattern NUMBER = Pattern.compile("\\+?0*(?<digits>[1-9][0-9]*)");

    private static final Set<String> EXPRESSIONS = Set.of("key", "when", "permits");

    private WrittenProperties() {}

    /**
     * Checks all properties that can be listed and are in effect.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static void check(Environment environment) {
        MisplacedPolicies.check(environment);
        Map<ConfigurationPropertyName, ConfigurationProperty> written = written(environment);
        written.keySet().forEach(WrittenProperties::checkIndent);
        written.forEach((name, property) -> {
            String value = String.valueOf(property.getValue());
            String resolved = resolved(environment, name, value);
            if (!resolved.isBlank()) {
                GroupValue.check(name, property);
            } else if (!isEmptyMap(property) && !clearsList(environment, property)) {
                throw new RateLimitConfigurationException(name.toString(), value, empty(name));
            }
            checkUnit(name, resolved);
            checkOneForm(name, value, written);
        });
        checkKeys(environment);
        checkPolicyNames(environment);
        UnusedProperties.warnOf(written.keySet());
    }

    private static Iterable<PropertySource<?>> sources(Environment environment) {
        return environment instanceof ConfigurableEnvironment all ? all.getPropertySources() : List.of();
    }

    private static String resolved(Environment environment, ConfigurationPropertyName name, String value) {
        try {
            return environment.resolveRequiredPlaceholders(value);
        } catch (IllegalArgumentException e) {
            throw new RateLimitConfigurationException(
                    name.toString(),
                    value,
                    Quotation.of(environment.resolvePlaceholders(value))
                            + " has a placeholder without a value; set it or give it a default, as in"
                            + " ${NAME:5/minute}");
        }
    }

    /**
     * The properties in effect, by name: of each scalar the first, and of each list all elements of the first source.
     * Without names that are not properties, as others may have environment variables with such names.
     */
    private static Map<ConfigurationPropertyName, ConfigurationProperty> written(Environment environment) {
        Map<ConfigurationPropertyName, ConfigurationProperty> written = new LinkedHashMap<>();
        Map<ConfigurationPropertyName, ConfigurationPropertySource> owners = new HashMap<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource listed) {
                listed.stream()
                        .filter(name -> KnownProperties.typeOf(name) != null)
                        .filter(name -> owners.computeIfAbsent(KnownProperties.whole(name), first -> source) == source)
                        .map(source::getConfigurationProperty)
                        .filter(Objects::nonNull)
                        .forEach(property -> written.putIfAbsent(property.getName(), property));
            }
        }
        return written;
    }

    /** Whether it replaces the list of a source with lower precedence, as <code>[]</code> in YAML does. */
    private static boolean clearsList(Environment environment, ConfigurationProperty property) {
        ConfigurationPropertyName name = property.getName();
        return KnownProperties.typeOf(name) == List.class
                && "".equals(property.getValue())
                && fileOf(property) != null
                && StreamSupport.stream(
                                        ConfigurationPropertySources.get(environment)
                                                .spliterator(),
                                        false)
                                .filter(source -> source.getConfigurationProperty(name) != null
                                        || source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT)
                                .count()
                        > 1;
    }

    /** Whether it is <code>{}</code>, which has no position in the file, unlike an empty value. */
    private static boolean isEmptyMap(ConfigurationProperty property) {
        PropertySourceOrigin file = fileOf(property);
        return KnownProperties.typeOf(property.getName()) == Map.class && file != null && file.getOrigin() == null;
    }

    private static @Nullable PropertySourceOrigin fileOf(ConfigurationProperty property) {
        return property.getOrigin() instanceof PropertySourceOrigin origin
                        && origin.getPropertySource() instanceof OriginTrackedMapPropertySource
                ? origin
                : null;
    }

    /** Nobody who writes a number means milliseconds, as Spring Boot does. */
    private static void checkUnit(ConfigurationPropertyName name, String value) {
        Matcher number = NUMBER.matcher(value);
        if (KnownProperties.typeOf(name) == Duration.class && number.matches()) {
            String digits = number.group("digits");
            throw new RateLimitConfigurationException(
                    name.toString(),
                    value,
                    "has no unit, and a number without a unit would be milliseconds; write " + digits + "s or " + digits
                            + "ms");
        }
    }

    /** A policy in its short form has no other properties: Spring Boot would drop them. */
    private static void checkOneForm(
            ConfigurationPropertyName name,
            String value,
            Map<ConfigurationPropertyName, ConfigurationProperty> written) {
        Class<?> type = KnownProperties.typeOf(name);
        if (type == PolicyProperties.class || type == PolicyProperties.Plan.class) {
            written.keySet().stream().filter(name::isAncestorOf).findFirst().ifPresent(other -> {
                throw new RateLimitConfigurationException(
                        name.toString(),
                        value,
                        "Spring Boot would ignore " + other + " (" + Origin.from(written.get(other)) + ") because of '"
                                + name + ": " + value + "'; write '" + name + ".limit' instead");
            });
        }
    }

    /**
     * A property of a policy in place of a policy's name is wrongly indented, unless it has properties of a policy
     * below it: a policy may be called 'free'.
     */
    private static void checkIndent(ConfigurationPropertyName name) {
        int place = POLICIES.getNumberOfElements();
        if (isOfPolicy(name, place) && !isOfPolicy(name, place + 1)) {
            String property = name.getElement(place, Form.DASHED);
            throw new RateLimitConfigurationException(
                    POLICIES + "." + property,
                    null,
                    "'" + property + "' is a property of a policy, but is written where the name of a policy belongs;"
                            + " indent it below the policy's name");
        }
    }

    private static boolean isOfPolicy(ConfigurationPropertyName name, int place) {
        return POLICIES.isAncestorOf(name)
                && name.getNumberOfElements() > place
                && OF_POLICIES.contains(name.getElement(place, Form.UNIFORM));
    }

    private static String empty(ConfigurationPropertyName name) {
        String what = "has no value; ";
        if (name.equals(ROOT)) {
            return what + "indent 'policies' and all other properties of ratelimit below it, or remove it";
        }
        if (name.equals(POLICIES)) {
            return what + "indent the policies below it, or remove it";
        }
        if (POLICIES.isParentOf(name)) {
            return what + "write a limit, such as 5/minute, or indent the policy's properties below its name";
        }
        Class<?> type = KnownProperties.typeOf(name);
        if (type != null && GroupValue.isGroup(type)) {
            return what + "indent its properties below it, or remove it";
        }
        String property = name.getLastElement(Form.DASHED);
        boolean listed = name.isLastElementIndexed() && name.getNumberOfElements() > 1;
        if (EXPRESSIONS.contains(listed ? name.getParent().getLastElement(Form.DASHED) : property)) {
            return what + "write a value or remove the property. In YAML, an unquoted # begins a comment, so put an"
                    + " expression in quotes";
        }
        return what + "write a value or remove the property"
                + (KnownProperties.typeOf(name) == List.class ? ". To clear the list of another file, write []" : "");
    }

    /**
     * Spring Boot drops some characters of names: an override would apply to nobody, and two policies would become one.
     */
    private static void checkKeys(Environment environment) {
        Map<ConfigurationPropertyName, String> spellings = new HashMap<>();
        for (PropertySource<?> source : sources(environment)) {
            if (source instanceof EnumerablePropertySource<?> listed) {
                for (String name : listed.getPropertyNames()) {
                    if (!(source instanceof SystemEnvironmentPropertySource)) {
                        checkIndent(ConfigurationPropertyName.adapt(name, '.'));
                    }
                    checkKey(name, spellings);
                }
            }
        }
    }

    private static void checkKey(String name, Map<ConfigurationPropertyName, String> spellings) {
        Matcher matcher = KEY.matcher(name);
        if (matcher.matches()
                && ConfigurationPropertyName.adapt(matcher.group(1), '.').equals(POLICIES)) {
            checkKept(name, matcher.group("policy"), KEPT_OF_POLICY);
            if (matcher.group("group") != null && isKeyed(matcher.group("group"))) {
                checkKept(name, matcher.group("key"), KEPT);
                checkSpelling(name.substring(0, matcher.end("key")), matcher.group("key"), spellings);
            }
        }
    }

    /** If two names differ only in case or hyphens, both would get the value that Spring Boot finds first. */
    private static void checkSpelling(
            String name, @Nullable String key, Map<ConfigurationPropertyName, String> spellings) {
        String other = key == null ? null : spellings.putIfAbsent(ConfigurationPropertyName.adapt(name, '.'), key);
        if (other != null && !other.equals(key)) {
            throw new RateLimitConfigurationException(
                    name,
                    null,
                    "'" + key + "' and '" + other + "' are the same name to Spring Boot; write them in brackets: \"["
                            + key + "]\"");
        }
    }

    /** Two spellings of a name are two policies, and each gets some properties of both. Brackets keep a name as it is. */
    private static void checkPolicyNames(Environment environment) {
        Map<ConfigurationPropertyName, String> spellings = new HashMap<>();
        int place = POLICIES.getNumberOfElements();
        KnownProperties.listed(environment)
                .filter(name -> POLICIES.isAncestorOf(name) && KnownProperties.typeOf(name) != null)
                .map(name -> name.chop(place + 1))
                .filter(policy -> !policy.isLastElementIndexed())
                .forEach(policy -> {
                    String spelling = policy.getElement(place, Form.ORIGINAL);
                    String other = spellings.putIfAbsent(policy, spelling);
                    if (other != null && !other.equals(spelling)) {
                        throw new RateLimitConfigurationException(
                                POLICIES + "." + spelling,
                                null,
                                Quotation.of(spelling) + " and " + Quotation.of(other)
                                        + " are the same name to Spring Boot; rename one of them");
                    }
                });
    }

    private static boolean isKeyed(String group) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(group, '.');
        return name.equals(OVERRIDES) || name.equals(PLANS);
    }

    private static void checkKept(String name, @Nullable String key, Pattern kept) {
        if (key != null && !kept.matcher(key).matches()) {
            throw new RateLimitConfigurationException(
                    name,
                    null,
                    "Spring Boot drops characters of " + Quotation.of(key) + "; write it in brackets: \"[" + key
                            + "]\"");
        }
    }
}
