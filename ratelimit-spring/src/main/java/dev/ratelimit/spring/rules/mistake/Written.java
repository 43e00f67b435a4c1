package dev.ratelimit.spring.rules.mistake;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * A property in one source of the environment. Its value, which may be somebody else's secret, is read only when asked for.
 *
 * @param text its name as written
 * @param name its name as Spring Boot reads it; of a variable, without the prefix of the application's variables
 * @param type the type of the known property or group of this name; {@code null} if there is none
 */
record Written(
        PropertySource<?> source,
        String text,
        ConfigurationPropertyName name,
        @Nullable Class<?> type) {

    private Written(PropertySource<?> source, String text, ConfigurationPropertyName name) {
        this(source, text, name, KnownProperties.typeOf(name));
    }

    /** All properties that can be listed, those with higher precedence first. */
    static List<Written> in(Environment environment) {
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .filter(IterableConfigurationPropertySource.class::isInstance)
                .flatMap(source -> in((IterableConfigurationPropertySource) source))
                .toList();
    }

    private static Stream<Written> in(IterableConfigurationPropertySource source) {
        if (source.getUnderlyingSource() instanceof EnumerablePropertySource<?> listed
                && !(listed instanceof SystemEnvironmentPropertySource)) {
            // Spring Boot would show only the first of two spellings of a name
            return Stream.of(listed.getPropertyNames())
                    .map(text -> new Written(listed, text, ConfigurationPropertyName.adapt(text, '.')));
        }
        return source.stream()
                .flatMap(name -> Stream.ofNullable(source.getConfigurationProperty(name)))
                .flatMap(property -> property.getOrigin() instanceof PropertySourceOrigin origin
                        ? Stream.of(
                                new Written(origin.getPropertySource(), origin.getPropertyName(), property.getName()))
                        : Stream.empty());
    }

    boolean isVariable() {
        return source instanceof SystemEnvironmentPropertySource;
    }

    boolean isSystemProperty() {
        return source.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
    }

    /** For messages. */
    String described() {
        return isVariable()
                ? "environment variable " + text
                : isSystemProperty() ? "system property " + text : "property " + text + " of " + source.getName();
    }

    /** The value, with its placeholders. */
    String value() {
        return String.valueOf(source.getProperty(text));
    }

    Origin origin() {
        return PropertySourceOrigin.get(source, text);
    }

    /** Whether it is a property below {@code ratelimit}, or that itself. */
    boolean isOurs() {
        return name.equals(KnownProperties.ROOT) || KnownProperties.ROOT.isAncestorOf(name);
    }

    /** The elements of the name, in lower case and without hyphens. */
    List<String> words() {
        return IntStream.range(0, name.getNumberOfElements())
                .mapToObj(i -> name.getElement(i, Form.UNIFORM))
                .toList();
    }
}
