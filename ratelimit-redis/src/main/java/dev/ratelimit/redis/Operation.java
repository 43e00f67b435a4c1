package dev.ratelimit.redis;

import java.util.Locale;

/** What a script is to do. */
enum Operation {
    CHARGE,
    PEEK,
    REFUND,
    RESET;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** Its name for the script. */
    String word() {
        return word;
    }
}
