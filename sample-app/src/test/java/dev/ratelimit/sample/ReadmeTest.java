package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.spring.WithFakeTicker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** The first screen of the README is the sample: its configuration, and the answer to the sixth login. */
@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
@Tag("servers")
class ReadmeTest {

    @Autowired
    private MockMvcTester mvc;

    private static String readme() throws IOException {
        return Files.readString(Path.of("..", "README.md"));
    }

    private static Properties properties(Resource yaml) {
        YamlPropertiesFactoryBean reader = new YamlPropertiesFactoryBean();
        reader.setResources(yaml);
        return Objects.requireNonNull(reader.getObject());
    }

    @Test
    void policies_areThoseOfTheSample() throws IOException {
        String yaml = readme().split("```yaml\n", 2)[1].split("```", 2)[0];

        Properties shown = properties(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));

        assertThat(shown).isNotEmpty();
        assertThat(properties(new ClassPathResource("application.yml"))).containsAllEntriesOf(shown);
    }

    @Test
    void refusal_isTheAnswerToTheSixthLogin() throws IOException {
        List<String> shown = readme().split("```\nHTTP/1.1 429\n", 2)[1]
                .split("\n```", 2)[0]
                .lines()
                .toList();
        for (int i = 0; i < 5; i++) {
            assertThat(login()).hasStatus(401);
        }

        MvcTestResult refused = login();

        assertThat(refused).hasStatus(429);
        for (String header : shown.subList(0, shown.indexOf(""))) {
            assertThat(refused).hasHeader(header.split(": ", 2)[0], header.split(": ", 2)[1]);
        }
        assertThat(refused).bodyText().isEqualTo(shown.get(shown.size() - 1));
    }

    private MvcTestResult login() {
        return mvc.post()
                .uri("/api/login")
                .param("user", "alice")
                .param("password", "guess")
                .exchange();
    }
}
