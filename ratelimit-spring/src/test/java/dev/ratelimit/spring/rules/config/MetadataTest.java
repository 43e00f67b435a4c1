package dev.ratelimit.spring.rules.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An IDE completes every property, with a description in whole sentences and a default. */
class MetadataTest {

    private static final Pattern SENTENCES = Pattern.compile("[A-Z][^\n]*[.]");

    private static JsonNode metadata() throws IOException {
        try (InputStream in = MetadataTest.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            return JsonMapper.shared().readTree(Objects.requireNonNull(in));
        }
    }

    private static Map<String, JsonNode> properties() throws IOException {
        Map<String, JsonNode> described = new TreeMap<>();
        metadata()
                .get("properties")
                .forEach(property -> described.put(property.get("name").asString(), property));
        return described;
    }

    @Test
    void metadata_describesEveryProperty() throws IOException {
        Map<String, JsonNode> described = properties();

        components("ratelimit.", RateLimitProperties.class).forEach((name, component) -> {
            JsonNode property = get(described, name);
            assertThat(property.get("description").asString()).as(name).matches(SENTENCES);
            String value = RecordJavadoc.defaultOf(component);
            if (value != null) {
                assertThat(property.get("defaultValue").asString())
                        .as(name)
                        .satisfiesAnyOf(
                                shown -> assertThat(shown).isEqualTo(value),
                                shown -> assertThat(Double.parseDouble(shown)).isEqualTo(Double.parseDouble(value)));
            }
        });
    }

    @Test
    void metadata_hintsAreWholeSentences_ofKnownProperties() throws IOException {
        Map<String, JsonNode> described = properties();

        for (JsonNode hint : metadata().get("hints")) {
            assertThat(described).containsKey(hint.get("name").asString().replaceFirst("[.]keys$", ""));
            for (JsonNode value : hint.get("values")) {
                assertThat(value.get("description").asString()).matches(SENTENCES);
            }
        }
    }

    /** IDEs complete the properties of a map's values from their type: names, javadoc and the constants of enums. */
    @Test
    void policies_areDescribedByTheirType() throws IOException {
        assertThat(get(properties(), "ratelimit.policies").get("type").asString())
                .isEqualTo("java.util.Map<java.lang.String," + PolicyProperties.class.getName() + ">");
        Map<String, String> described = RecordJavadoc.of("PolicyProperties.java");

        for (Class<?> type : types(PolicyProperties.class)) {
            for (RecordComponent component : type.getRecordComponents()) {
                String name = type.getSimpleName() + "." + component.getName();
                assertThat(described.get(name)).as(name).matches(SENTENCES);
            }
        }
    }

    private static List<Class<?>> types(Class<?> type) {
        List<Class<?>> types = new ArrayList<>(List.of(type.getDeclaredClasses()));
        types.add(type);
        return types;
    }

    private static JsonNode get(Map<String, JsonNode> described, String name) {
        return Objects.requireNonNull(described.get(name), name);
    }

    private static Map<String, RecordComponent> components(String prefix, Class<?> type) {
        Map<String, RecordComponent> components = new TreeMap<>();
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
            if (component.getType().isRecord()) {
                components.putAll(components(name + ".", component.getType()));
            } else {
                components.put(name, component);
            }
        }
        return components;
    }
}
