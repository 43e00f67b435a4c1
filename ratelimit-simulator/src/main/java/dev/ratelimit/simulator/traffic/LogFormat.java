package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.Recording;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How lines are written. Not thread-safe. */
interface LogFormat {

    /** Reads one line into the draft, which is empty; what is wrong is told there. */
    void read(byte[] line, int from, int to, RequestDraft draft);

    /** Whether the line is no request but a part of the format, such as the names of columns. */
    default boolean isHeading(byte[] line, int from, int to) {
        return false;
    }

    /** What its fields say, as far as it is known before the lines are read. */
    Set<Field> fields();

    /** Whether later lines may have fields that those so far do not have. */
    default boolean mayHaveOtherFields() {
        return false;
    }

    /** Whether lines are those of a recording. */
    default boolean mayHaveRecording() {
        return false;
    }

    /** What the first line of a recording says; {@code null} for other logs. */
    default @Nullable Recording recording() {
        return null;
    }

    /** The names of its fields. */
    Set<String> names();
}
