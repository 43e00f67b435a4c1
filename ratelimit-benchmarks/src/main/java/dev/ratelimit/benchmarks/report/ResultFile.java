package dev.ratelimit.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Collectors;

/** The result of a run as a Markdown file: {@code <date>-<machine>-<kind>.md}. */
public final class ResultFile {

    private static final Path FOLDER = Path.of(System.getProperty(
            "results", Path.of("ratelimit-benchmarks", "results").toString()));

    private final String kind;
    private final LocalDate today = LocalDate.now(ZoneOffset.UTC);
    private final String machine = Machine.description();

    /** Created before the run, because it records how busy the machine is. */
    public ResultFile(String kind) {
        this.kind = kind;
    }

    /** Writes all tables so far, in place of those written before. */
    public void write(String how, List<Table> tables) {
        Path file = FOLDER.resolve("%s-%s-%s.md".formatted(today, Machine.name(), kind));
        String head = "# %s, %s%n%n%s%n%n%s%n%n".formatted(today, kind, machine, how);
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
