package dev.ratelimit.redis;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisReadOnlyException;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Redis did not decide. Has no stack trace: failures may be frequent, and the stack says nothing about the cause. */
final class StoreFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The place of an error of Lua itself, before its line; where a command failed is named with an at sign. */
    private static final String SCRIPT = "USER_SCRIPT:";

    private final RedisStoreFailure reason;

    StoreFailure(RedisStoreFailure reason, String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.reason = reason;
    }

    StoreFailure(RedisStoreFailure reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    /** The failure of a command that says nothing about the server: the fault lies with this instance. */
    static StoreFailure stalled(String message, @Nullable Throwable cause) {
        return new StoreFailure(RedisStoreFailure.STALLED, message, cause);
    }

    RedisStoreFailure reason() {
        return reason;
    }

    /** Whether it is the server's failure, and not that of one request or of this instance. */
    boolean ofServer() {
        return switch (reason) {
            case WRONG_TYPE, SCRIPT, MOVING, OPEN, SATURATED, STALLED, INTERRUPTED -> false;
            default -> true;
        };
    }

    /**
     * Whether the server cannot write, however well it reads: questions, and refusals, which write nothing, would hide that for
     * ever from whoever counts failures.
     */
    boolean ofWriting() {
        return switch (reason) {
            case READONLY, OOM, UNWRITABLE, AUTH -> true;
            default -> false;
        };
    }

    /** Whether it reveals the server's state, healthy or not. */
    boolean showsServerState() {
        return switch (reason) {
            case MOVING, OPEN, SATURATED, STALLED, INTERRUPTED -> false;
            default -> true;
        };
    }

    /** Whether a server replied, and this instance did not give up by itself. */
    boolean replied() {
        return switch (reason) {
            case TIMEOUT, CONNECTION, OPEN, SATURATED, STALLED, INTERRUPTED -> false;
            // an error of this instance, such as a lack of memory for the reply
            default -> !(getCause() instanceof Error);
        };
    }

    /** Whether the server said that it has not executed the command, or nothing was sent. */
    boolean executedNothing() {
        return reason == RedisStoreFailure.STALLED || (replied() && reason != RedisStoreFailure.UNEXPECTED);
    }

    /** Whether another connection may help: this one brought no reply, or leads to the wrong server or user. */
    boolean ofConnection() {
        return switch (reason) {
            case TIMEOUT, CONNECTION, READONLY, AUTH, CLUSTER, UNEXPECTED -> true;
            default -> false;
        };
    }

    /** Converts an exception of the client. */
    static StoreFailure of(Throwable thrown) {
        Throwable cause = serverReply(thrown);
        if (cause instanceof StoreFailure failure) {
            return failure;
        }
        return cause instanceof TimeoutException
                ? new StoreFailure(RedisStoreFailure.TIMEOUT, "Redis did not answer in time")
                : new StoreFailure(
                        reason(cause), Objects.requireNonNullElseGet(cause.getMessage(), cause::toString), cause);
    }

    /** The server's own reply, if any: when it rejects a connection, its reply is a cause of the client's exception. */
    private static Throwable serverReply(Throwable thrown) {
        Throwable told = thrown;
        while (told instanceof CompletionException && told.getCause() != null) {
            told = told.getCause();
        }
        for (Throwable cause = told; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisCommandExecutionException) {
                return cause;
            }
        }
        return told;
    }

    private static RedisStoreFailure reason(Throwable cause) {
        if (cause instanceof RedisCommandTimeoutException) {
            return RedisStoreFailure.TIMEOUT;
        }
        if (cause instanceof RedisReadOnlyException) {
            return RedisStoreFailure.READONLY;
        }
        if (cause instanceof RedisLoadingException) {
            return RedisStoreFailure.LOADING;
        }
        if (cause instanceof RedisBusyException) {
            return RedisStoreFailure.BUSY;
        }
        if (cause instanceof Error) {
            return RedisStoreFailure.ERROR;
        }
        if (cause instanceof RedisCommandExecutionException) {
            return replied(String.valueOf(cause.getMessage()).toUpperCase(Locale.ROOT));
        }
        return RedisStoreFailure.CONNECTION;
    }

    /** Redis wraps an error inside a script in the script's name; before Redis 7, the error comes last. */
    private static RedisStoreFailure replied(String message) {
        if (message.contains("WRONGTYPE")) {
            return RedisStoreFailure.WRONG_TYPE;
        }
        if (message.contains("OOM ")) {
            return RedisStoreFailure.OOM;
        }
        if (message.contains("MISCONF") || message.contains("NOREPLICAS")) {
            return RedisStoreFailure.UNWRITABLE;
        }
        if (message.contains("READONLY") || message.contains("READ ONLY REPLICA")) {
            return RedisStoreFailure.READONLY;
        }
        if (Stream.of("NOPERM", "NOAUTH", "WRONGPASS", "THE USER EXECUTING THE SCRIPT", "ACL FAILURE IN SCRIPT")
                .anyMatch(message::contains)) {
            return RedisStoreFailure.AUTH;
        }
        if (message.contains("TRYAGAIN")) {
            return RedisStoreFailure.MOVING;
        }
        if (message.contains("MASTERDOWN") || message.contains("CLUSTERDOWN")) {
            return RedisStoreFailure.CLUSTER;
        }
        return isOfLua(message) ? RedisStoreFailure.SCRIPT : RedisStoreFailure.ERROR;
    }

    private static boolean isOfLua(String message) {
        for (int at = message.indexOf(SCRIPT); at >= 0; at = message.indexOf(SCRIPT, at + 1)) {
            int line = at + SCRIPT.length();
            if (message.startsWith(" ", line)) {
                line++;
            }
            int end = line;
            while (end < message.length() && Character.isDigit(message.charAt(end))) {
                end++;
            }
            boolean ofCommand = at > 0 && message.charAt(at - 1) == '@';
            if (!ofCommand && end > line && message.startsWith(":", end)) {
                return true;
            }
        }
        return false;
    }
}
