package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The page about testing shows a test that runs here. */
class TestingPageTest {

    @Test
    void test_isTheOneThatRuns() throws IOException {
        String test = Files.readString(Path.of("src/test/java/dev/ratelimit/sample/LoginLimitTest.java"));

        assertThat(Path.of("../docs/configuration/testing.md"))
                .content()
                .contains("```java\n" + test.substring(test.indexOf("import ")) + "```");
    }
}
