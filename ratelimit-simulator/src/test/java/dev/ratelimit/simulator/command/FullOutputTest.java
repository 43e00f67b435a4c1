package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Standard output that cannot be written, such as one on a full disk. */
class FullOutputTest {

    @TempDir
    Path directory;

    private String config = "";
    private String log = "";

    /** Has no room. */
    private static final class Full extends OutputStream {

        @Override
        public void write(int b) throws IOException {
            throw new IOException("No space left on device");
        }
    }

    @BeforeEach
    void write() throws IOException {
        config = Files.writeString(
                        directory.resolve("application.yml"), "ratelimit.policies.all: {key: ip, limit: 9/minute}\n")
                .toString();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            lines.append("10.0.0.%d - - [27/Nov/2026:12:00:%02d +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"-\"%n"
                    .formatted(i, i));
        }
        log = Files.writeString(directory.resolve("access.log"), lines).toString();
    }

    private static void fails(String... arguments) {
        StringWriter err = new StringWriter();
        PrintStream out = new PrintStream(new Full(), false, StandardCharsets.UTF_8);

        int code = Main.run(new PrintWriter(out, false, StandardCharsets.UTF_8), new PrintWriter(err), arguments);

        assertThat(code).as(err.toString()).isEqualTo(2);
        assertThat(err.toString()).contains("standard output cannot be written");
    }

    @Test
    void results_areNotLostSilently() {
        fails("replay", "--config", config, "--input", log);
        fails("replay", "--config", config, "--input", log, "--decisions", "-");
        fails("suggest", "--config", config, "--input", log, "--touch-at-most", "1%");
        fails("--help");
    }
}
