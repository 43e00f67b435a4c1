package dev.ratelimit.simulator.traffic;

import java.util.Set;

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

    /** The names of its fields. */
    Set<String> names();
}
