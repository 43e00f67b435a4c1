package dev.ratelimit.remote;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Logs what operators need to know of a store's servers: once per change, not per request. Thread-safe. */
public final class OperatorLog {

    private static final Logger LOG = System.getLogger(OperatorLog.class.getPackageName());

    private final String store;
    private final RemoteStoreListener listener;
    private final String pause;
    private volatile boolean reached;
    private volatile boolean closed;

    /**
     * Creates a log for the servers of a store.
     *
     * @param settings of the store
     */
    public OperatorLog(RemoteStoreSettings settings) {
        this.store = settings.name;
        this.listener = settings.listener;
        this.pause = "about every " + settings.openFor.toMillis() + " ms";
    }

    /** Records that a server has been reached. */
    void reached() {
        reached = true;
    }

    /** Logs that this failure stops requests to a server. */
    void failed(String title, StoreFailure failure) {
        warn(
                "{0} {1} ({2}: {3}). Until it answers, policies apply their on-store-failure. It is tried again {4}.",
                name(title),
                reached ? "is unavailable" : "has not been reached yet",
                failure.reason().tag(),
                String.valueOf(failure.getMessage()),
                pause);
        listener.changed();
    }

    /** Tells why a probe of a server has failed: by now, the reason may be another one. */
    void stillFailing(StoreFailure failure) {
        listener.failed(failure.reason());
    }

    /** Logs that a server answers and is used again. */
    void recovered(String title) {
        warn("{0} is available again and decides rate limits.", name(title));
        listener.changed();
    }

    /** Stops logging: it is normal that a closed store does not ask its servers. */
    public void close() {
        closed = true;
    }

    private void warn(String message, Object... parameters) {
        if (!closed) {
            LOG.log(Level.WARNING, message, parameters);
        }
    }

    private String name(String title) {
        return title.isEmpty() ? store : store + " at " + title;
    }
}
