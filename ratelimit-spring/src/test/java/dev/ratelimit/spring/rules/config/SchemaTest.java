package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.Algorithm;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The JSON schema of the configuration, by which editors complete and describe properties, also those of policies, which
 * Spring's format of metadata cannot describe. {@code -Dschema.update} writes it.
 */
class SchemaTest {

    private static final Path FILE = Path.of("../docs/ratelimit.schema.json");

    /** A value may also be a placeholder. */
    private static final Map<String, Object> PLACEHOLDER = Map.of("type", "string", "pattern", "\\$\\{");

    private final Map<String, String> described = new TreeMap<>();

    private Map<String, Object> schema() throws IOException {
        described.putAll(RecordJavadoc.of("RateLimitProperties.java"));
        described.putAll(RecordJavadoc.of("PolicyProperties.java"));
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("$schema", "http://json-schema.org/draft-07/schema#");
        schema.put("title", "Rate limits in application.yml");
        schema.put("type", "object");
        schema.put("properties", Map.of("ratelimit", object(RateLimitProperties.class)));
        return schema;
    }

    private Map<String, Object> object(Class<?> type) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (RecordComponent component : type.getRecordComponents()) {
            Map<String, Object> property = new LinkedHashMap<>();
            property.put("description", described.get(type.getSimpleName() + "." + component.getName()));
            String value = RecordJavadoc.defaultOf(component);
            if (value != null) {
                property.put("default", value);
            }
            property.putAll(value(type, component));
            properties.put(DataObjectPropertyName.toDashedForm(component.getName()), property);
        }
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("type", "object");
        object.put("properties", properties);
        return object;
    }

    private Map<String, Object> value(Class<?> type, RecordComponent component) {
        if (type == PolicyProperties.class && component.getName().equals("algorithm")) {
            return oneOf(
                    Map.of(
                            "enum",
                            Stream.of(Algorithm.values())
                                    .map(Algorithm::toString)
                                    .toList()),
                    PLACEHOLDER);
        }
        return value(component.getGenericType());
    }

    private Map<String, Object> value(Type generic) {
        Class<?> type = generic instanceof ParameterizedType parameterized
                ? (Class<?>) parameterized.getRawType()
                : (Class<?>) generic;
        if (type == Map.class) {
            Type values = ((ParameterizedType) generic).getActualTypeArguments()[1];
            return Map.of("type", "object", "additionalProperties", value(values));
        }
        if (type == PolicyProperties.class || type == PolicyProperties.Plan.class) {
            // the short form is the limit alone
            return oneOf(Map.of("type", "string"), object(type));
        }
        if (type.isRecord()) {
            return object(type);
        }
        if (type == List.class) {
            List<String> scalar = List.of("string", "integer");
            return oneOf(Map.of("type", scalar), Map.of("type", "array", "items", Map.of("type", scalar)));
        }
        if (type.isEnum()) {
            return oneOf(
                    Map.of(
                            "enum",
                            Stream.of(type.getEnumConstants())
                                    .map(constant -> ((Enum<?>) constant)
                                            .name()
                                            .toLowerCase(Locale.ROOT)
                                            .replace('_', '-'))
                                    .toList()),
                    PLACEHOLDER);
        }
        if (type == boolean.class || type == Boolean.class) {
            return oneOf(Map.of("type", "boolean"), PLACEHOLDER);
        }
        boolean whole =
                Stream.of(int.class, Integer.class, long.class, Long.class).anyMatch(type::equals);
        if (whole || type == double.class) {
            return oneOf(Map.of("type", whole ? "integer" : "number"), PLACEHOLDER);
        }
        return Map.of("type", List.of("string", "number"));
    }

    private static Map<String, Object> oneOf(Object first, Object second) {
        return Map.of("anyOf", List.of(first, second));
    }

    @Test
    void schema_isTheOneInTheDocs() throws IOException {
        String schema = JsonMapper.builder()
                        .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true)
                        .build()
                        .writerWithDefaultPrettyPrinter()
                        .writeValueAsString(schema())
                + "\n";
        if (System.getProperty("schema.update") != null) {
            Files.writeString(FILE, schema);
        }

        assertThat(FILE)
                .as("The properties differ from docs/ratelimit.schema.json. If that is meant, run"
                        + " mvn test -Dtest=SchemaTest -Dsurefire.failIfNoSpecifiedTests=false -Dschema.update, and commit"
                        + " the file with the change")
                .hasContent(schema);
        assertThat(schema).doesNotContain("\"description\" : null");
    }

    /** For editors of those who have only the jar. */
    @Test
    void schema_isInTheJar() throws IOException {
        try (InputStream in = SchemaTest.class.getResourceAsStream("/META-INF/ratelimit.schema.json")) {
            assertThat(Objects.requireNonNull(in).readAllBytes()).isEqualTo(Files.readAllBytes(FILE));
        }
    }
}
