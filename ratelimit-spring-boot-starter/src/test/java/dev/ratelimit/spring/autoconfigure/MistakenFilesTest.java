package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.spring.RunningApp;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;

/**
 * Files with one typical mistake each: the report is complete and printed once, without a stack trace or a started
 * server.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("servers")
class MistakenFilesTest {

    @TempDir
    private Path folder;

    /** A title, the file, and the report of each mistake. */
    static Stream<Arguments> mistakes() throws IOException {
        try (InputStream in = MistakenFilesTest.class.getResourceAsStream("/mistaken-files.txt")) {
            String all = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            return Stream.of(all.split("(?m)^=== ")).skip(1).map(MistakenFilesTest::mistake);
        }
    }

    private static Arguments mistake(String text) {
        int title = text.indexOf('\n');
        int report = text.lastIndexOf("\n---\n");
        return arguments(
                text.substring(0, title),
                text.substring(title + 1, report + 1),
                text.substring(report + 5).strip());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void file_mistaken_isReportedWholeAndOnce(String title, String yaml, String report, CapturedOutput output)
            throws IOException {
        Path file = Files.writeString(folder.resolve("application.yml"), yaml);

        assertThatThrownBy(() -> RunningApp.start(List.of(), "spring.config.location=" + file.toUri())
                        .close())
                .isInstanceOf(Exception.class);

        String printed = output.getOut();
        String told = printed.substring(printed.indexOf("Description:") + "Description:".length());
        assertThat(told.replaceAll("URL \\[file:[^]]*]|file \\[[^]]*]", "application.yml")
                        .strip())
                .isEqualTo(report);
        assertThat(printed)
                .containsOnlyOnce("APPLICATION FAILED TO START")
                .doesNotContain("\tat ")
                .doesNotContain("Error starting Tomcat");
    }

    @Test
    void redis_withoutItsDependency_isMissedBeforeTheServerStarts(CapturedOutput output) {
        new WebApplicationContextRunner(AnnotationConfigServletWebServerApplicationContext::new)
                .withConfiguration(AutoConfigurations.of(
                        TomcatServletWebServerAutoConfiguration.class,
                        DispatcherServletAutoConfiguration.class,
                        WebMvcAutoConfiguration.class,
                        RateLimitAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader(RedisStore.class))
                .withPropertyValues("server.port=0", "ratelimit.store.type=redis", "ratelimit.policies.a=5/minute")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("redis needs a dependency that is missing"));

        assertThat(output).doesNotContain("Error starting Tomcat");
    }
}
