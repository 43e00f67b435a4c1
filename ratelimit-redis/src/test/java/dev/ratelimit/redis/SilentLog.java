package dev.ratelimit.redis;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Keeps what stores log out of the output of tests with more faults than anybody reads. */
public final class SilentLog implements BeforeAllCallback, AfterAllCallback {

    /** Loggers are collected, with their levels, unless somebody holds them. */
    private static final Logger LOG = Logger.getLogger("dev.ratelimit");

    @Override
    public void beforeAll(ExtensionContext context) {
        LOG.setLevel(Level.OFF);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        LOG.setLevel(null);
    }
}
