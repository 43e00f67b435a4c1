package dev.ratelimit.simulator.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a command reads is never what it writes. */
class OverwriteTest {

    private static final String LINE =
            "10.0.0.1 - - [27/Nov/2026:12:00:00 +0100] \"GET / HTTP/1.1\" 200 10 \"-\" \"-\"\n";
    private static final String CONFIG = "ratelimit.policies.api: 1/minute\n";

    @TempDir
    Path directory;

    @BeforeEach
    void files() throws IOException {
        for (String log : List.of("x.log", "x.html", "d.part", "logs/index.html")) {
            Path file = directory.resolve(log);
            Files.createDirectories(file.getParent());
            Files.writeString(file, LINE);
        }
        Files.writeString(directory.resolve("c.yml"), CONFIG);
        Files.writeString(directory.resolve("endpoints.txt"), "GET /\n");
    }

    /** Words that are files begin with {@code @}. */
    private CommandLineRun replay(String more) {
        Stream<String> words = Stream.of(("replay --config @c.yml " + more).split(" "));
        return CommandLineRun.of(words.map(word -> word.startsWith("@") ? path(word.substring(1)) : word)
                .toArray(String[]::new));
    }

    private String path(String name) {
        return directory.resolve(name).toString();
    }

    private List<String> there() throws IOException {
        List<String> all = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                all.add(directory.relativize(file) + ": " + Files.readString(file));
            }
        }
        return all;
    }

    private void assertRefused(String message, String more) throws IOException {
        List<String> before = there();
        CommandLineRun run = replay(more);
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(2);
        assertThat(run.err().strip()).isEqualTo(message.replace("@", directory + "/") + "; write another file");
        assertThat(there()).isEqualTo(before);
    }

    @Test
    void output_isNoInput() throws IOException {
        assertRefused("--decisions @x.log would overwrite --input @x.log", "--input @x.log --decisions @x.log");
        assertRefused(
                "--decisions @x.log would overwrite --input @logs/../x.log",
                "--input @logs/../x.log --decisions @x.log");
        assertRefused("--out @x.html would overwrite --input @x.html", "--input @x.log @x.html --out @x.html");
        assertRefused("--out @logs would overwrite --input @logs/index.html", "--input @logs/index.html --out @logs");
        assertRefused("--decisions @d would overwrite --input @d.part", "--input @d.part --decisions @d");
    }

    @Test
    void output_isNoInput_byLinks() throws IOException {
        Files.createSymbolicLink(directory.resolve("link.log"), directory.resolve("x.log"));
        Files.createSymbolicLink(directory.resolve("here"), directory);
        Files.createLink(directory.resolve("hard.log"), directory.resolve("x.log"));

        for (String[] names : new String[][] {
            {"link.log", "x.log"}, {"x.log", "link.log"}, {"hard.log", "x.log"}, {"x.log", "here/x.log"}
        }) {
            assertRefused(
                    "--decisions @" + names[1] + " would overwrite --input @" + names[0],
                    "--input @" + names[0] + " --decisions @" + names[1]);
        }
    }

    @Test
    void output_isNoConfiguration() throws IOException {
        assertRefused("--decisions @c.yml would overwrite --config @c.yml", "--input @x.log --decisions @c.yml");
        assertRefused(
                "--decisions @endpoints.txt would overwrite --endpoints @endpoints.txt",
                "--input @x.log --endpoints @endpoints.txt --decisions @endpoints.txt");
    }

    @Test
    void output_isNoOtherOutput() throws IOException {
        Files.createSymbolicLink(directory.resolve("here"), directory);

        assertRefused("--out @new would overwrite --decisions @new", "--input @x.log --decisions @new --out @new");
        assertRefused(
                "--out @new would overwrite --decisions @here/new/index.html",
                "--input @x.log --decisions @here/new/index.html --out @new");
        assertRefused(
                "--out @new.html would overwrite --decisions @new.html/a",
                "--input @x.log --decisions @new.html/a --out @new.html");
    }

    @Test
    void otherFiles_areWritten_andReplaced() throws IOException {
        for (int i = 0; i < 2; i++) {
            CommandLineRun run = replay("--input @x.log --decisions @out/decisions --out @out");

            assertThat(run.code()).as(run.err()).isZero();
            assertThat(directory.resolve("out/decisions")).exists();
            assertThat(directory.resolve("out/index.html")).exists();
        }
    }
}
