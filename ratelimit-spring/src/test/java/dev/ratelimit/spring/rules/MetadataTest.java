package dev.ratelimit.spring.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An IDE completes every property, with a description and a default. */
class MetadataTest {

    @Test
    void metadata_describesEveryProperty() throws IOException {
        Map<String, JsonNode> described = new TreeMap<>();
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            JsonNode metadata = JsonMapper.shared().readTree(Objects.requireNonNull(in));
            metadata.get("properties")
                    .forEach(property -> described.put(property.get("name").asString(), property));
        }

        names("ratelimit.", RateLimitProperties.class).forEach(name -> {
            JsonNode property = get(described, name);
            assertThat(property.get("description").asString()).as(name).isNotBlank();
        });
        assertThat(get(described, "ratelimit.enabled").get("defaultValue").asBoolean())
                .isTrue();
        // the properties of a map's values are completed from their type
        assertThat(get(described, "ratelimit.policies").get("type").asString())
                .isEqualTo("java.util.Map<java.lang.String,dev.ratelimit.spring.rules.PolicyProperties>");
    }

    private static JsonNode get(Map<String, JsonNode> described, String name) {
        return Objects.requireNonNull(described.get(name), name);
    }

    private static Stream<String> names(String prefix, Class<?> type) {
        return Stream.of(type.getRecordComponents()).flatMap(component -> names(prefix, component));
    }

    private static Stream<String> names(String prefix, RecordComponent component) {
        String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
        return component.getType().isRecord() ? names(name + ".", component.getType()) : Stream.of(name);
    }
}
