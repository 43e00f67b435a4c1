package dev.ratelimit.spring;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Undoes the log levels that the applications of a test class have set: they apply to the whole JVM, and the next class,
 * which may look for a warning, need not have an application of its own. Registered for all classes.
 */
public final class LogLevels implements AfterAllCallback {

    @Override
    public void afterAll(ExtensionContext context) {
        if (context.getRequiredTestClass().isMemberClass()) {
            return;
        }
        LoggerContext loggers = (LoggerContext) LoggerFactory.getILoggerFactory();
        for (Logger logger : loggers.getLoggerList()) {
            boolean root = logger.getName().equals(Logger.ROOT_LOGGER_NAME);
            logger.setLevel(root ? Level.INFO : null);
        }
    }
}
