package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** What a script does. */
enum Operation {
    CHARGE,
    PEEK,
    REFUND,
    RESET;

    private final byte[] word = name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);

    /** Whether its reply has the state of each limit. */
    boolean hasStatuses() {
        return this == CHARGE || this == PEEK;
    }

    /** Its name in the script. Callers must not modify the array. */
    byte[] word() {
        return word;
    }
}
