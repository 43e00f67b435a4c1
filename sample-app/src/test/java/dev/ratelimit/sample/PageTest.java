package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.core.io.ByteArrayResource;

/** The page of the sample: complete in itself, and its code is the code that runs. */
class PageTest {

    private static final Path RESOURCES = Path.of("src/main/resources");
    private static final Path SOURCES = Path.of("src/main/java/dev/ratelimit/sample");

    private static String page() throws IOException {
        return Files.readString(RESOURCES.resolve("static/index.html"));
    }

    private static List<String> code(String language) throws IOException {
        return Pattern.compile("<code class=\"" + language + "\">(.*?)</code>", Pattern.DOTALL)
                .matcher(page())
                .results()
                .map(block -> block.group(1).strip())
                .toList();
    }

    private static Map<String, String> policies(String yaml) {
        YamlPropertiesFactoryBean properties = new YamlPropertiesFactoryBean();
        properties.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        Map<String, String> policies = new TreeMap<>();
        Objects.requireNonNull(properties.getObject()).forEach((name, value) -> {
            if (name.toString().startsWith("ratelimit.")) {
                policies.put(name.toString(), value.toString());
            }
        });
        return policies;
    }

    @Test
    void page_refersToNothingElse() throws IOException {
        assertThat(page()).doesNotContainPattern("https?:|src=|@import|url\\(|//[a-z]");
    }

    @Test
    void yaml_isThatOfTheApplication() throws IOException {
        Map<String, String> shown = new TreeMap<>();
        for (String block : code("yaml")) {
            shown.putAll(policies(block));
        }

        assertThat(shown).isNotEmpty().isEqualTo(policies(Files.readString(RESOURCES.resolve("application.yml"))));
    }

    @Test
    void java_isThatOfTheControllers() throws IOException {
        String controllers = Files.readString(SOURCES.resolve("LoginController.java"))
                + Files.readString(SOURCES.resolve("ReportController.java"));

        assertThat(code("java"))
                .hasSize(2)
                .allSatisfy(block -> assertThat(controllers).contains(block.replace("\n", "\n    ")));
    }
}
