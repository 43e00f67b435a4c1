package dev.ratelimit.spring;

import org.jspecify.annotations.Nullable;

/** A mistake in the configuration of limits, which stops the start. */
public final class RateLimitConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String where;
    private final @Nullable String written;
    private final String reason;

    /**
     * A mistake.
     *
     * @param where the property, or the annotation with class and method
     * @param written what is written there, or {@code null} where nothing is
     * @param reason the rule, and what to write instead
     */
    public RateLimitConfigurationException(String where, @Nullable String written, String reason) {
        super(where + ": " + reason);
        this.where = where;
        this.written = written;
        this.reason = reason;
    }

    /** The property, or the annotation with class and method. */
    public String where() {
        return where;
    }

    /** What is written there. */
    public @Nullable String written() {
        return written;
    }

    /** The rule, and what to write instead. */
    public String reason() {
        return reason;
    }
}
