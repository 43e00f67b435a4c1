package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.simulator.Simulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Configurations without any policy, such as the wrong file. */
class NoPolicyTest {

    @TempDir
    Path directory;

    private Path log;

    @BeforeEach
    void write() throws IOException {
        log = Files.writeString(
                directory.resolve("access.log"),
                "10.0.0.1 - - [27/Nov/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 10 \"-\" \"-\"\n");
    }

    private Path config(String text) throws IOException {
        return Files.writeString(directory.resolve("other.yml"), text);
    }

    @Test
    void replay_fails_andSaysInWhichFile() throws IOException {
        for (String text : List.of("", "- a\n- b\n", "server.port: 1\n", "ratelimit.enabled: true\n")) {
            Path config = config(text);

            CommandLineRun run = CommandLineRun.of("replay", "--config", config.toString(), "--input", log.toString());

            assertThat(run.code()).as(text + run.out()).isEqualTo(2);
            assertThat(run.err()).contains("there is no policy under ratelimit.policies in " + config);
            assertThat(run.out()).isEmpty();
        }
    }

    @Test
    void otherCommands_failToo() throws IOException {
        Path config = config("server.port: 1\n");

        for (List<String> arguments : List.of(
                List.of("suggest", "--touch-at-most", "1%", "--config", config.toString()),
                List.of("replay", "--property", "server.port=1"))) {
            String[] all = java.util.stream.Stream.concat(
                            arguments.stream(), List.of("--input", log.toString()).stream())
                    .toArray(String[]::new);

            CommandLineRun run = CommandLineRun.of(all);

            assertThat(run.code()).as(arguments + run.out()).isEqualTo(2);
            assertThat(run.err()).contains("there is no policy under ratelimit.policies");
        }
    }

    @Test
    void simulation_fails() throws IOException {
        Simulation simulation = Simulation.of(config("server.port: 1\n"));

        assertThatThrownBy(() -> simulation.replay(log))
                .hasMessageContaining("there is no policy under ratelimit.policies in ")
                .hasMessageContaining("other.yml");
    }
}
