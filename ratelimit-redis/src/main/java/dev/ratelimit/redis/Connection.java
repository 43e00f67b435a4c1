package dev.ratelimit.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An open connection to a server: the only way for commands to leave the store. Failures are exceptions of the client,
 * with the server's reply if there was one. Thread-safe; no method blocks.
 */
interface Connection {

    /** The server that it leads to, by the name that {@link Topology#connect} was called with. */
    String server();

    /** Whether commands can still be sent; a lost connection does not come back. */
    boolean isOpen();

    /**
     * Runs a script; its reply consists of whole numbers.
     *
     * @param call makes the call at the moment when the connection writes it, on the thread that writes, so it must be
     *     quick; called at most once, and never if the connection fails before.
     *     {@code null} if nothing is to be asked any more: the result then fails
     * @param asking whether the server is to run it although it is only importing the slot
     */
    CompletableFuture<long[]> send(Supplier<@Nullable Call> call, boolean asking);

    /** The server's reply to {@code CLUSTER NODES}. */
    CompletableFuture<String> clusterNodes();

    /** The server's reply to {@code INFO memory}. */
    CompletableFuture<String> memory();

    /** Runs this when the connection is lost or closed, unless it already is: on a thread of the client, so it must not block. */
    void whenClosed(Runnable action);

    /** Closes the connection, unless it is closed. */
    CompletionStage<Void> close();
}
