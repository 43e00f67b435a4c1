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
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The first screen of the README is what an application with its configuration, and no other, answers to the sixth request; the
 * next configuration is that of the sample.
 */
@SpringBootTest(classes = ReadmeTest.Hello.class, properties = "spring.config.name=none")
@AutoConfigureMockMvc
@WithFakeTicker
@Tag("servers")
class ReadmeTest {

    @EnableAutoConfiguration
    @RestController
    static class Hello {

        @GetMapping("/hello")
        String hello() {
            return "hello";
        }
    }

    @Autowired
    private MockMvcTester mvc;

    @DynamicPropertySource
    static void firstScreen(DynamicPropertyRegistry registry) throws IOException {
        configuration(1).forEach((name, value) -> registry.add(name.toString(), () -> value));
    }

    private static String readme() throws IOException {
        return Files.readString(Path.of("..", "README.md"));
    }

    /** One of the configurations in the README, the first of which has the number 1. */
    private static Properties configuration(int number) throws IOException {
        String yaml = readme().split("```yaml\n", -1)[number].split("```", 2)[0];
        Properties shown = properties(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        assertThat(shown).isNotEmpty();
        return shown;
    }

    private static Properties properties(Resource yaml) {
        YamlPropertiesFactoryBean reader = new YamlPropertiesFactoryBean();
        reader.setResources(yaml);
        return Objects.requireNonNull(reader.getObject());
    }

    @Test
    void refusal_isTheAnswerToTheSixthRequest() throws IOException {
        List<String> shown = readme().split("```\nHTTP/1.1 429\n", 2)[1]
                .split("\n```", 2)[0]
                .lines()
                .toList();
        for (int i = 0; i < 5; i++) {
            assertThat(mvc.get().uri("/hello")).hasStatusOk();
        }

        MvcTestResult refused = mvc.get().uri("/hello").exchange();

        assertThat(refused).hasStatus(429);
        for (String header : shown.subList(0, shown.indexOf(""))) {
            assertThat(refused).hasHeader(header.split(": ", 2)[0], header.split(": ", 2)[1]);
        }
        assertThat(refused).bodyText().isEqualTo(shown.get(shown.size() - 1));
    }

    @Test
    void policies_areThoseOfTheSample() throws IOException {
        assertThat(properties(new ClassPathResource("application.yml"))).containsAllEntriesOf(configuration(2));
    }
}
