package dev.ratelimit.simulator.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {

    @TempDir
    Path directory;

    private final PrintWriter out = new PrintWriter(OutputStream.nullOutputStream(), false, UTF_8);

    private OutputFile open() throws IOException {
        OutputFile file = OutputFile.of(directory.resolve("decisions").toString(), out);
        file.writer().write("half");
        return file;
    }

    @Test
    void file_isThereWhenItIsComplete() throws IOException {
        try (OutputFile file = open()) {
            file.writer().write(" and half");
            assertThat(directory.resolve("decisions")).doesNotExist();
            file.commit();
        }

        assertThat(directory.resolve("decisions")).content().isEqualTo("half and half");
        assertThat(directory.toFile().list()).containsExactly("decisions");
    }

    @Test
    void file_isNotReplacedByAHalf() throws IOException {
        Files.writeString(directory.resolve("decisions"), "of the last run");

        open().close();

        assertThat(directory.resolve("decisions")).content().isEqualTo("of the last run");
        assertThat(directory.toFile().list()).containsExactly("decisions");
    }
}
