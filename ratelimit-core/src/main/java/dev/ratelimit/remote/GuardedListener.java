package dev.ratelimit.remote;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/** Keeps what a listener throws, such as meters that are closed, from decisions. Thread-safe. */
final class GuardedListener implements RemoteStoreListener {

    private static final Logger LOG = System.getLogger(GuardedListener.class.getPackageName());

    private final RemoteStoreListener listener;
    private final String store;
    private final AtomicBoolean told = new AtomicBoolean();

    GuardedListener(RemoteStoreListener listener, String store) {
        this.listener = listener;
        this.store = store;
    }

    @Override
    public void failed(StoreFailure.Reason reason) {
        guarded(() -> listener.failed(reason));
    }

    @Override
    public void changed() {
        guarded(listener::changed);
    }

    private void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            if (told.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "The listener of the " + store + " store failed. Later failures of it are not logged.",
                        e);
            }
        }
    }
}
