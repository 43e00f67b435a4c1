package dev.ratelimit.simulator.traffic;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What a field of a log says about a request.
 *
 * @param kind what it is
 * @param name the header, cookie, claim or bean, or the unit of a duration; empty if the kind has no names, or the unit is
 *     not known
 */
public record Field(Kind kind, String name) {

    /** What fields say. */
    public enum Kind {
        /** When the request began, or ended. */
        TIME,
        /** The address of the client. */
        ADDRESS,
        /** The name of the caller. */
        USER,
        /** The roles of the caller, separated by commas or spaces. */
        ROLES,
        /** The method, the path with its query and the protocol, in one. */
        REQUEST,
        METHOD,
        /** The path, perhaps with its query. */
        PATH,
        QUERY,
        STATUS,
        /** How long the request took. */
        DURATION,
        /** The value of a header. */
        HEADER,
        /** The value of a cookie. */
        COOKIE,
        /** The id of the session. */
        SESSION,
        /** The value of a claim of the caller's token. */
        CLAIM,
        /** What a bean says that resolves keys or plans. */
        BEAN,
        /** Nothing that matters here. */
        OTHER
    }

    static final Field OTHER = of(Kind.OTHER);

    static Field of(Kind kind) {
        return new Field(kind, "");
    }

    /** A duration whose unit the name of its field says, if it does. */
    static Field duration(String field) {
        String lower = field.toLowerCase(Locale.ROOT);
        if (lower.endsWith("request_time") || field.equals("%T") || lower.matches(".*(_s|_?seconds)")) {
            return new Field(Kind.DURATION, TimeUnit.SECONDS.name());
        }
        if (field.equals("%D") || lower.matches(".*(_us|_?micros)")) {
            return new Field(Kind.DURATION, TimeUnit.MICROSECONDS.name());
        }
        boolean millis = lower.matches(".*(_ms|_?millis|%\\{ms}t)");
        return new Field(Kind.DURATION, millis ? TimeUnit.MILLISECONDS.name() : "");
    }
}
