package dev.ratelimit.remote;

/**
 * Receives failures, on request threads and on the client's threads: it must return quickly. What it throws is logged
 * once and otherwise ignored.
 */
public interface RemoteStoreListener {

    /**
     * A server did not execute a request: a decision or a part of it, a refund, a reset, or a probe of a server that is not
     * used.
     *
     * @param reason why
     */
    default void failed(StoreFailure.Reason reason) {}

    /** The store stops using a failing server, or uses it again. */
    default void changed() {}
}
