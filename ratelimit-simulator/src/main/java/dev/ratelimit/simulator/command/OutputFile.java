package dev.ratelimit.simulator.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/** A file that is there as a whole, or not at all: it has another name until it is complete. Not thread-safe. */
final class OutputFile implements AutoCloseable {

    /** {@code null} for standard output. */
    private final @Nullable Path file;

    private final Writer writer;

    private OutputFile(@Nullable Path file, Writer writer) {
        this.file = file;
        this.writer = writer;
    }

    /**
     * Opens a file.
     *
     * @param name {@code -} for standard output
     * @param out standard output
     */
    static OutputFile of(String name, PrintWriter out) throws IOException {
        if (name.equals("-")) {
            return new OutputFile(null, out);
        }
        Path file = Path.of(name).toAbsolutePath();
        Files.createDirectories(file.getParent());
        return new OutputFile(file, Files.newBufferedWriter(partOf(file), StandardCharsets.UTF_8));
    }

    /** The name that a file has until it is complete. */
    static Path partOf(Path file) {
        return file.resolveSibling(file.getFileName() + ".part");
    }

    Writer writer() {
        return writer;
    }

    /** Gives the file its name. */
    void commit() throws IOException {
        writer.flush();
        if (file != null) {
            writer.close();
            Files.move(partOf(file), file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Removes what is there, unless it is complete. */
    @Override
    public void close() throws IOException {
        if (file != null) {
            try {
                writer.close();
            } finally {
                Files.deleteIfExists(partOf(file));
            }
        }
    }
}
