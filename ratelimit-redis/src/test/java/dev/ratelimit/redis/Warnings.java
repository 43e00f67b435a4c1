package dev.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The records of a log at WARNING and above. Thread-safe. */
final class Warnings extends Handler implements AutoCloseable {

    // held, because a logger without references may be collected with its handlers
    private final Logger log;
    private final List<String> messages = new CopyOnWriteArrayList<>();

    /** Records this logger and those below it from now on. */
    Warnings(String logger) {
        log = Logger.getLogger(logger);
        log.addHandler(this);
    }

    List<String> messages() {
        return messages;
    }

    @Override
    public void publish(LogRecord message) {
        if (message.getLevel().intValue() >= Level.WARNING.intValue()) {
            messages.add(new SimpleFormatter().formatMessage(message));
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        log.removeHandler(this);
    }
}
