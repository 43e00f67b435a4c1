package dev.ratelimit.spring.rules.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Fuzz;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JsonObjectFuzzTest {

    private final Fuzz values = Fuzz.of(JsonObjectFuzzTest.class, "/dev/ratelimit/spring/rules/texts.txt");

    private static String json(String text) {
        return new JsonObject()
                .add(text + "1", text)
                .add("number", text.length())
                .add("texts", List.of(text, "", text))
                .toString();
    }

    @Test
    void toString_anyText_isReadBackByAnotherParser() {
        values.run(text -> {
            String json = json(text);

            JsonNode read = JsonMapper.shared().readTree(json);
            assertThat(json).matches("[ -~]*");
            assertThat(read.size()).isEqualTo(3);
            assertThat(read.get(text + "1").stringValue()).isEqualTo(text);
            assertThat(read.get("number").intValue()).isEqualTo(text.length());
            assertThat(read.get("texts").valueStream().map(JsonNode::stringValue))
                    .containsExactly(text, "", text);
        });
    }
}
