package dev.ratelimit.simulator.traffic;

import java.io.Serial;

/** Why a line of a log cannot be read. It has no stack trace, as there may be many such lines. */
final class UnreadableLineException extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    /** Says what is wrong with the line, for readers. */
    UnreadableLineException(String reason) {
        super(reason, null, false, false);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
