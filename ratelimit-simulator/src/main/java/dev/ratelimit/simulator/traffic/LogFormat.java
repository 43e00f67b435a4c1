package dev.ratelimit.simulator.traffic;

import dev.ratelimit.simulator.recording.Recording;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How lines are written. Not thread-safe. */
interface LogFormat {

    /** Reads one line into the draft, which is empty. */
    void read(String line, RequestDraft draft) throws UnreadableLineException;

    /** Whether the line is no request but a part of the format, such as the names of columns. */
    default boolean isHeading(String line) {
        return false;
    }

    /** What its fields say, as far as it is known from the lines so far. */
    Set<Field> fields();

    /** The names of its fields. */
    Set<String> names();

    /** Whether lines are those of a recording. */
    default boolean isRecording() {
        return false;
    }

    /** What the first line of a recording says; {@code null} for other logs, and before that line. */
    default @Nullable Recording recording() {
        return null;
    }
}
