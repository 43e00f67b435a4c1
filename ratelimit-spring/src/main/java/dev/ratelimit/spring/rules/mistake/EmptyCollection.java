package dev.ratelimit.spring.rules.mistake;

import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.PropertySourceOrigin;

/** Distinguishes <code>{}</code> and <code>[]</code> in YAML from empty values, as which Spring Boot reads them. */
final class EmptyCollection {

    private EmptyCollection() {}

    /** Whether it is <code>{}</code>, which has no position in the file, unlike an empty value. */
    static boolean isMap(ConfigurationProperty property) {
        return KnownProperties.typeOf(property.getName()) == Map.class
                && property.getOrigin() instanceof PropertySourceOrigin origin
                && origin.getPropertySource() instanceof OriginTrackedMapPropertySource
                && origin.getOrigin() == null;
    }

    /** Whether it is <code>[]</code>: an empty value that begins with a bracket in the file. */
    static boolean isList(ConfigurationProperty property) {
        return KnownProperties.typeOf(property.getName()) == List.class
                && String.valueOf(property.getValue()).isEmpty()
                && WrittenText.of(property).startsWith("[");
    }
}
