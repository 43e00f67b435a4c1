package dev.ratelimit.remote;

import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A server did not decide. Has no stack trace: failures may be frequent, and the stack says nothing about the cause. */
public final class StoreFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Why, and what that says about the server. {@link RemoteStoreFailure} has those of any remote store; a store has its own
     * for what its servers reply. By default, such a reply says that the server fails.
     */
    public interface Reason {

        /** {@return the value of the tag in metrics, such as {@code timeout}} */
        String tag();

        /** {@return whether it is the server's failure, and not that of one request or of this instance} */
        default boolean ofServer() {
            return true;
        }

        /**
         * {@return whether the server cannot write, however well it reads} Questions, and refusals, which write nothing, would
         * hide that for ever from whoever counts failures.
         */
        default boolean ofWriting() {
            return false;
        }

        /** {@return whether it reveals the server's state, healthy or not} */
        default boolean showsServerState() {
            return true;
        }

        /** {@return whether a server replied, and this instance did not give up by itself} */
        default boolean replied() {
            return true;
        }

        /** {@return whether the server said that it has not executed the request, or nothing was sent} */
        default boolean executedNothing() {
            return replied();
        }

        /** {@return whether another connection may help: this one brought no reply, or leads to the wrong server or user} */
        default boolean ofConnection() {
            return false;
        }
    }

    @SuppressWarnings("serial") // never serialized
    private final Reason reason;

    /**
     * Creates a failure.
     *
     * @param reason why
     * @param message what to tell operators
     * @param cause what the client has thrown, if anything
     */
    public StoreFailure(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.reason = reason;
    }

    /**
     * Creates a failure without a cause.
     *
     * @param reason why
     * @param message what to tell operators
     */
    public StoreFailure(Reason reason, String message) {
        this(reason, message, null);
    }

    /**
     * The failure of a request that says nothing about the server: the fault lies with this instance.
     *
     * @param message what to tell operators
     * @param cause of it, if any
     * @return a failure that is {@link RemoteStoreFailure#STALLED}
     */
    public static StoreFailure stalled(String message, @Nullable Throwable cause) {
        return new StoreFailure(RemoteStoreFailure.STALLED, message, cause);
    }

    /**
     * Converts what is not about a client's protocol: a timeout, an error of this instance, or otherwise a lost connection.
     *
     * @param thrown anything, or a {@link CompletionException} of it
     * @return a failure with it as its cause, or itself if it is one
     */
    public static StoreFailure of(Throwable thrown) {
        Throwable cause = cause(thrown);
        if (cause instanceof StoreFailure failure) {
            return failure;
        }
        if (cause instanceof TimeoutException) {
            return new StoreFailure(RemoteStoreFailure.TIMEOUT, "no answer in time");
        }
        return new StoreFailure(
                cause instanceof Error ? RemoteStoreFailure.ERROR : RemoteStoreFailure.CONNECTION,
                Objects.requireNonNullElseGet(cause.getMessage(), cause::toString),
                cause);
    }

    /**
     * Finds what a future was completed with.
     *
     * @param thrown what its dependents are told
     * @return the cause of a {@link CompletionException}, or anything else itself
     */
    public static Throwable cause(Throwable thrown) {
        Throwable told = thrown;
        while (told instanceof CompletionException && told.getCause() != null) {
            told = told.getCause();
        }
        return told;
    }

    /** {@return why} */
    public Reason reason() {
        return reason;
    }

    /** Whether a server replied, and it is no error of this instance, such as a lack of memory for the reply. */
    boolean replied() {
        return reason.replied() && !(getCause() instanceof Error);
    }

    /** Whether the server said that it has not executed the request, or nothing was sent. */
    boolean executedNothing() {
        return reason.executedNothing() && (replied() || !reason.replied());
    }
}
