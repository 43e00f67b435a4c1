package dev.ratelimit.spring.rules.mistake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** Files with one typical mistake each, or two: the report is complete. */
class MistakenFilesTest {

    @TempDir
    private Path folder;

    /** A title, the file, and the report of each mistake. */
    static Stream<Arguments> mistakes() throws IOException {
        try (InputStream in = MistakenFilesTest.class.getResourceAsStream("mistaken-files.txt")) {
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
    void file_mistaken_isReportedWhole(String title, String yaml, String report) throws IOException {
        Path file = Files.writeString(folder.resolve("application.yml"), yaml);
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "location",
                        Map.of("spring.config.location", file.toUri().toString())));
        ConfigDataEnvironmentPostProcessor.applyTo(environment);

        FailureAnalysis analysis = Objects.requireNonNull(Start.report(environment));

        String told = "%s%n%nAction:%n%n%s".formatted(analysis.getDescription(), analysis.getAction());
        assertThat(told.replaceAll("URL \\[file:[^]]*]|file \\[[^]]*]", "application.yml")
                        .strip())
                .isEqualTo(report);
    }
}
