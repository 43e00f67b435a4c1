package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.text.PropertyName;
import dev.ratelimit.spring.rules.text.Quotation;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/** Finds mistakes in properties as written that are no longer visible after binding. */
public final class WrittenProperties {

    private static final Logger log = LoggerFactory.getLogger(WrittenProperties.class);

    private static final ConfigurationPropertyName ROOT = KnownProperties.ROOT;
    private static final ConfigurationPropertyName POLICIES = KnownProperties.POLICIES;
    private static final ConfigurationPropertyName STORE = ROOT.append("store");

    /** What Spring Boot reads as a number, other than 0, which is the same in all units. */
    private static final Pattern NUMBER = Pattern.compile("\\+?0*(?<digits>[1-9][0-9]*)");

    private static final Set<String> EXPRESSIONS = Set.of("key", "when", "permits");

    private final Environment environment;
    private final List<Written> all;
    private final Map<ConfigurationPropertyName, Written> effective;

    private WrittenProperties(Environment environment, List<Written> all) {
        this.environment = environment;
        this.all = all;
        this.effective = effective(all);
    }

    /**
     * Checks the names of all properties that can be listed, and then the values of those that are in effect.
     *
     * @throws RateLimitConfigurationException at the first mistake
     */
    public static void check(Environment environment) {
        List<Written> all = Written.in(environment);
        new WrittenNames(all).check();
        WrittenProperties properties = new WrittenProperties(environment, all);
        properties.effective.values().forEach(properties::check);
        for (String type : List.of("redis", "jdbc")) {
            ConfigurationPropertyName store = STORE.append(type);
            properties.warnOfUnused(
                    store,
                    STORE.append("type"),
                    "budgets are in the memory of each instance",
                    type + ", or memory if that is intended");
            properties.warnOfUnused(
                    store.append("lease"),
                    store.append("mode"),
                    "there are no leases",
                    "leased, or exact if that is intended");
        }
    }

    /** Of each known scalar the first, and of each list all elements of the first source. */
    private static Map<ConfigurationPropertyName, Written> effective(List<Written> all) {
        Map<ConfigurationPropertyName, Written> effective = new LinkedHashMap<>();
        Map<ConfigurationPropertyName, PropertySource<?>> owners = new HashMap<>();
        for (Written property : all) {
            ConfigurationPropertyName name = property.name();
            if (property.type() != null
                    && owners.computeIfAbsent(KnownProperties.whole(name), first -> property.source())
                            .equals(property.source())) {
                effective.putIfAbsent(name, property);
            }
        }
        return effective;
    }

    private void check(Written property) {
        ConfigurationPropertyName name = property.name();
        Class<?> type = Objects.requireNonNull(property.type());
        String resolved = resolved(property);
        if (resolved.isBlank()) {
            if (!isEmptyMap(property) && !clearsList(property)) {
                throw mistake(property, "has no value; " + valueOrIndent(name, type));
            }
        } else if (KnownProperties.isGroup(type) && !(name.equals(ROOT) && property.isVariable())) {
            // a variable called RATELIMIT may belong to somebody else
            throw mistake(
                    property,
                    "takes no value of its own; write properties below it" + example(name, type, property.value()));
        }
        Matcher number = NUMBER.matcher(resolved);
        if (type == Duration.class && number.matches()) {
            String digits = number.group("digits");
            throw new RateLimitConfigurationException(
                    name.toString(),
                    resolved,
                    "has no unit, and a number without a unit would be milliseconds; write " + digits + "s or " + digits
                            + "ms");
        }
        if (KnownProperties.hasShortForm(type)) {
            effective.values().stream()
                    .filter(other -> name.isAncestorOf(other.name()))
                    .findFirst()
                    .ifPresent(other -> {
                        throw mistake(
                                property,
                                "Spring Boot would ignore " + other.name() + " (" + other.origin() + ") because of '"
                                        + name + ": " + property.value() + "'; write '" + name + ".limit' instead");
                    });
        }
    }

    private static RateLimitConfigurationException mistake(Written property, String reason) {
        return new RateLimitConfigurationException(property.name().toString(), property.value(), reason);
    }

    private String resolved(Written property) {
        try {
            return environment.resolveRequiredPlaceholders(property.value());
        } catch (IllegalArgumentException e) {
            throw mistake(
                    property,
                    Quotation.of(environment.resolvePlaceholders(property.value()))
                            + " has a placeholder without a value; set it or give it a default, as in"
                            + " ${NAME:5/minute}");
        }
    }

    /** Whether it replaces the list of a source with lower precedence, as <code>[]</code> in YAML does. */
    private boolean clearsList(Written property) {
        return property.type() == List.class
                && property.value().isEmpty()
                && property.source() instanceof OriginTrackedMapPropertySource
                && all.stream()
                        .filter(other -> KnownProperties.whole(other.name()).equals(property.name()))
                        .anyMatch(other -> !other.source().equals(property.source()));
    }

    /** Whether it is <code>{}</code>, which has no position in the file, unlike an empty value. */
    private static boolean isEmptyMap(Written property) {
        return property.type() == Map.class
                && property.source() instanceof OriginTrackedMapPropertySource
                && property.origin() instanceof PropertySourceOrigin origin
                && origin.getOrigin() == null;
    }

    private static String valueOrIndent(ConfigurationPropertyName name, Class<?> type) {
        if (name.equals(ROOT)) {
            return "indent 'policies' and all other properties of ratelimit below it, or remove it";
        }
        if (name.equals(POLICIES)) {
            return "indent the policies below it, or remove it";
        }
        if (POLICIES.isParentOf(name)) {
            return "write a limit, such as 5/minute, or indent the policy's properties below its name";
        }
        if (KnownProperties.isGroup(type)) {
            return "indent its properties below it, or remove it";
        }
        String value = "write a value or remove the property";
        if (EXPRESSIONS.contains(KnownProperties.whole(name).getLastElement(Form.DASHED))) {
            return value + ". In YAML, an unquoted # begins a comment, so put an expression in quotes";
        }
        return value + (type == List.class ? ". To clear the list of another file, write []" : "");
    }

    /** What may be below a group in place of its value. */
    private static String example(ConfigurationPropertyName name, Class<?> type, String value) {
        if (name.equals(ROOT)) {
            return ", such as " + name + ".enabled: false";
        }
        if (type == Map.class) {
            return name.equals(POLICIES) ? ", such as " + name + ".login: 5/minute" : "";
        }
        List<RecordComponent> components = List.of(type.getRecordComponents());
        return components.stream()
                .filter(component -> isOneOf(component.getType(), value))
                .findFirst()
                .map(component -> ", such as " + name + "." + KnownProperties.nameOf(component) + ": " + value)
                .orElseGet(() ->
                        components.stream().map(KnownProperties::nameOf).collect(Collectors.joining(", ", ": ", "")));
    }

    private static boolean isOneOf(Class<?> type, String value) {
        return type.isEnum()
                && Stream.of(type.getEnumConstants())
                        .anyMatch(
                                constant -> PropertyName.of((Enum<?>) constant).equals(value.strip()));
    }

    /** Warns of a group without the property that selects it. Where the other choice is written, that was decided. */
    private void warnOfUnused(
            ConfigurationPropertyName group, ConfigurationPropertyName choice, String otherwise, String values) {
        if (!effective.containsKey(choice) && effective.keySet().stream().anyMatch(group::isAncestorOf)) {
            log.warn("{}.* has no effect without {}: {}. Write {}: {}", group, choice, otherwise, choice, values);
        }
    }
}
