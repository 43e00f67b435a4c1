package dev.ratelimit.spring.rules.mistake;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import dev.ratelimit.spring.rules.text.PropertyName;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Finds values of groups, which Spring Boot would ignore, such as {@code store: redis}. */
final class GroupValue {

    private GroupValue() {}

    /** Checks a property with a value. A variable called RATELIMIT may belong to somebody else. */
    static void check(ConfigurationPropertyName name, ConfigurationProperty property) {
        Class<?> type = KnownProperties.typeOf(name);
        if (type != null && isGroup(type) && !(name.equals(KnownProperties.ROOT) && isVariable(property))) {
            String value = String.valueOf(property.getValue());
            throw new RateLimitConfigurationException(
                    name.toString(),
                    value,
                    "takes no value of its own; write properties below it" + example(name, type, value));
        }
    }

    static boolean isGroup(Class<?> type) {
        return type == Map.class
                || (type.isRecord() && type != PolicyProperties.class && type != PolicyProperties.Plan.class);
    }

    private static boolean isVariable(ConfigurationProperty property) {
        return property.getOrigin() instanceof PropertySourceOrigin origin
                && origin.getPropertySource() instanceof SystemEnvironmentPropertySource;
    }

    private static String example(ConfigurationPropertyName name, Class<?> type, String value) {
        if (name.equals(KnownProperties.ROOT)) {
            return ", such as " + name + ".enabled: false";
        }
        if (type == Map.class) {
            return name.getLastElement(ConfigurationPropertyName.Form.DASHED).equals("policies")
                    ? ", such as " + name + ".login: 5/minute"
                    : "";
        }
        List<RecordComponent> components = List.of(type.getRecordComponents());
        return components.stream()
                .filter(component -> isOneOf(component.getType(), value))
                .findFirst()
                .map(component -> ", such as " + name + "." + nameOf(component) + ": " + value)
                .orElseGet(
                        () -> components.stream().map(GroupValue::nameOf).collect(Collectors.joining(", ", ": ", "")));
    }

    private static boolean isOneOf(Class<?> type, String value) {
        return type.isEnum()
                && Arrays.stream(type.getEnumConstants())
                        .anyMatch(
                                constant -> PropertyName.of((Enum<?>) constant).equals(value.strip()));
    }

    private static String nameOf(RecordComponent component) {
        return DataObjectPropertyName.toDashedForm(component.getName());
    }
}
