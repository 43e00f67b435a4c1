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

    private final @Nullable Path file;
    private final @Nullable Path part;
    /** The directory, if it was not there before. */
    private final @Nullable Path created;

    private final Writer writer;
    private boolean committed;

    /** Failures say which file it is. */
    private static final class Named extends Writer {

        private final Path file;
        private final Writer to;

        Named(Path file, Writer to) {
            this.file = file;
            this.to = to;
        }

        @Override
        public void write(char[] text, int from, int length) throws IOException {
            try {
                to.write(text, from, length);
            } catch (IOException e) {
                throw named(e);
            }
        }

        @Override
        public void flush() throws IOException {
            try {
                to.flush();
            } catch (IOException e) {
                throw named(e);
            }
        }

        @Override
        public void close() throws IOException {
            try {
                to.close();
            } catch (IOException e) {
                throw named(e);
            }
        }

        private IOException named(IOException failure) {
            return new IOException(file + " cannot be written: " + failure.getMessage(), failure);
        }
    }

    private OutputFile(@Nullable Path file, @Nullable Path part, @Nullable Path created, Writer writer) {
        this.created = created;
        this.file = file;
        this.part = part;
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
            return new OutputFile(null, null, null, out);
        }
        Path file = Path.of(name).toAbsolutePath();
        Path part = partOf(file);
        Path directory = file.getParent();
        boolean missing = !Files.exists(directory);
        Files.createDirectories(directory);
        return new OutputFile(
                file,
                part,
                missing ? directory : null,
                new Named(file, Files.newBufferedWriter(part, StandardCharsets.UTF_8)));
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
        if (file != null && part != null) {
            writer.close();
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        }
        committed = true;
    }

    /** Removes what is there, unless it is complete. */
    @Override
    public void close() throws IOException {
        if (!committed && part != null) {
            try {
                writer.close();
            } finally {
                Files.deleteIfExists(part);
                if (created != null) {
                    Files.deleteIfExists(created);
                }
            }
        }
    }
}
