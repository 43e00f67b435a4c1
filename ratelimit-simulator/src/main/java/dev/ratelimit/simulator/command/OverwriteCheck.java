package dev.ratelimit.simulator.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether the files that a command writes are others than those that it reads, whatever their names: also by links.
 * Not thread-safe.
 */
final class OverwriteCheck {

    /**
     * A file of the command line.
     *
     * @param name for messages, with the option
     */
    private record Named(String name, Path file) {

        Path real() {
            Path absolute = file.toAbsolutePath();
            for (Path there = absolute; there != null; there = there.getParent()) {
                try {
                    return there.toRealPath()
                            .resolve(there.relativize(absolute))
                            .normalize();
                } catch (IOException e) {
                    // it does not exist yet, but its directory may
                }
            }
            return absolute.normalize();
        }

        /** Whether both are one file, or the other one lies below this one, which would be its directory. */
        boolean replaces(Named other) {
            try {
                return other.real().startsWith(real()) || Files.isSameFile(file, other.file);
            } catch (IOException e) {
                // one of them does not exist
                return false;
            }
        }
    }

    private final List<Named> read = new ArrayList<>();
    private final List<Named> written = new ArrayList<>();

    /** Notes a file that is read. */
    OverwriteCheck reads(String option, Path file) {
        read.add(new Named(option + " " + file, file));
        return this;
    }

    /**
     * Notes a file that is written.
     *
     * @param asked what the user has written, for the message
     * @throws IllegalArgumentException if another file of the command would be lost
     */
    OverwriteCheck writes(String option, Path asked, Path file) {
        String name = option + " " + asked;
        for (Path each : List.of(file, OutputFile.partOf(file))) {
            Named output = new Named(name, each);
            read.stream().filter(output::replaces).findFirst().ifPresent(input -> fail(name, input));
            written.stream()
                    .filter(other -> output.replaces(other) || other.replaces(output))
                    .findFirst()
                    .ifPresent(other -> fail(name, other));
        }
        written.add(new Named(name, file));
        written.add(new Named(name, OutputFile.partOf(file)));
        return this;
    }

    private static void fail(String name, Named other) {
        throw new IllegalArgumentException(name + " would overwrite " + other.name() + "; write another file");
    }
}
