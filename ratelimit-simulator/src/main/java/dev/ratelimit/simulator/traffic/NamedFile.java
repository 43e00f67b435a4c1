package dev.ratelimit.simulator.traffic;

import java.nio.file.Path;

/**
 * A file that is read.
 *
 * @param name for messages
 */
public record NamedFile(String name, Path path) {

    /** A file with the name that the user has written. */
    public static NamedFile of(Path path) {
        return new NamedFile(path.toString(), path);
    }
}
