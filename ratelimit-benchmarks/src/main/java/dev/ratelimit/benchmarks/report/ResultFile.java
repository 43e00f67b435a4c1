package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** The result of a run as a Markdown file: {@code <date>-<machine>-<kind>.md}, replaced by the next of the day. */
public final class ResultFile {

    private static final Path FOLDER = Path.of(System.getProperty(
            "results", Path.of("ratelimit-benchmarks", "results").toString()));

    private final String kind;
    private final String libraries = libraries();
    private final LocalDate today = LocalDate.now(ZoneOffset.UTC);
    private final String machine = Machine.description();

    /** Created before the run, because it records how busy the machine is. */
    public ResultFile(String kind) {
        this.kind = kind;
    }

    /** The versions in the build of these benchmarks. */
    private static String libraries() {
        try (InputStream in = ResultFile.class.getResourceAsStream("/benchmarks/libraries.txt")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes all tables so far, in place of those written before. */
    public void write(String how, List<Table> tables) {
        Path file = FOLDER.resolve("%s-%s-%s.md".formatted(today, Machine.name(), kind));
        String head = "# %s, %s%n%n%s%n%n%s%n%n%s%n%n".formatted(today, kind, machine, libraries, how);
        String sections = tables.stream().map(Table::markdown).collect(Collectors.joining("\n"));
        try {
            Files.createDirectories(FOLDER);
            Files.writeString(file, head + sections);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        System.err.println("written: " + file);
    }
}
