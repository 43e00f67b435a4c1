package dev.ratelimit.spring.rules.history;

import static dev.ratelimit.spring.rules.text.UrlEncoding.decoded;
import static dev.ratelimit.spring.rules.text.UrlEncoding.encoded;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the change of a property, beside its value. In a register, it follows the value. Immutable.
 *
 * @param until when the value ends, in microseconds since the epoch; {@link #NEVER} if it has no end
 * @param by who has changed it
 * @param reason why; empty if nobody has said that
 * @param configured the value of the configuration at that moment, as {@link ConfiguredValue} writes it
 */
public record ChangeNote(long until, String by, String reason, String configured) {

    /** The end of what has none. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Of a value without a note. */
    private static final ChangeNote NONE = new ChangeNote(NEVER, "", "", "");

    /** A value of a register with this note. */
    public String after(String value) {
        return value + "&" + (until == NEVER ? "" : Long.toString(until)) + "&" + encoded(by) + "&" + encoded(reason)
                + "&" + encoded(configured);
    }

    /** The value alone. */
    public static String valueOf(String text) {
        int end = text.indexOf('&');
        return end < 0 ? text : text.substring(0, end);
    }

    /** The note of a value; one that says nothing, if there is none. */
    public static ChangeNote of(String text) {
        String[] parts = text.split("&", -1);
        try {
            return parts.length < 5
                    ? NONE
                    : new ChangeNote(
                            parts[1].isEmpty() ? NEVER : Long.parseLong(parts[1]),
                            decoded(parts[2]),
                            decoded(parts[3]),
                            decoded(parts[4]));
        } catch (IllegalArgumentException e) {
            return NONE;
        }
    }

    /** When the value ends; {@code null} if it has no end. */
    public @Nullable Instant end() {
        return until == NEVER ? null : instant(until);
    }

    /** A moment in microseconds since the epoch. */
    public static Instant instant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1000L);
    }

    /** The microseconds since the epoch, rounded down. */
    public static long micros(Instant moment) {
        return Math.addExact(Math.multiplyExact(moment.getEpochSecond(), 1_000_000L), moment.getNano() / 1000);
    }
}
