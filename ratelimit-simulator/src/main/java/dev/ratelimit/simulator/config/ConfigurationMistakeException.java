package dev.ratelimit.simulator.config;

import java.io.Serial;

/** A mistake in the configuration, with the message that the start of an application would show. */
public final class ConfigurationMistakeException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    ConfigurationMistakeException(String message) {
        super(message);
    }

    ConfigurationMistakeException(String message, Throwable cause) {
        super(message, cause);
    }
}
