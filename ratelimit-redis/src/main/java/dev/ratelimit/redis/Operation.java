package dev.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** What a script is to do. */
enum Operation {
    CHARGE,
    PEEK,
    REFUND,
    RESET;

    private final byte[] word = name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);

    /** Its name for the script. Not to be changed. */
    byte[] word() {
        return word;
    }
}
