package dev.ratelimit.redis;

import dev.ratelimit.redis.RedisStore.Failure;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisReadOnlyException;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Redis did not decide. Has no stack trace: there may be many, and where it was noticed says nothing. */
final class StoreFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Failure reason;

    StoreFailure(Failure reason, String message, Throwable cause) {
        super(message, cause, false, false);
        this.reason = reason;
    }

    StoreFailure(Failure reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    Failure reason() {
        return reason;
    }

    /** Whether it says something about the server, and not about one key or about ourselves. */
    boolean ofServer() {
        return switch (reason) {
            case WRONG_TYPE, MOVING, OPEN, SATURATED, INTERRUPTED -> false;
            default -> true;
        };
    }

    /** What this exception of the client means. */
    static StoreFailure of(Throwable thrown) {
        Throwable cause = telling(thrown);
        return cause instanceof StoreFailure failure
                ? failure
                : new StoreFailure(reason(cause), String.valueOf(cause.getMessage()), cause);
    }

    /** What the server itself replied, if it did: a connection that it does not let in fails with that as its cause. */
    private static Throwable telling(Throwable thrown) {
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

    private static Failure reason(Throwable cause) {
        if (cause instanceof TimeoutException || cause instanceof RedisCommandTimeoutException) {
            return Failure.TIMEOUT;
        }
        if (cause instanceof RedisReadOnlyException) {
            return Failure.READONLY;
        }
        if (cause instanceof RedisLoadingException) {
            return Failure.LOADING;
        }
        if (cause instanceof RedisBusyException) {
            return Failure.BUSY;
        }
        if (cause instanceof RedisCommandExecutionException) {
            return replied(String.valueOf(cause.getMessage()).toUpperCase(Locale.ROOT));
        }
        return Failure.CONNECTION;
    }

    /** An error inside a script comes with the name of the script around it, before Redis 7 at the end. */
    private static Failure replied(String message) {
        if (message.contains("WRONGTYPE")) {
            return Failure.WRONG_TYPE;
        }
        if (message.contains("OOM ")) {
            return Failure.OOM;
        }
        if (message.contains("READONLY") || message.contains("READ ONLY REPLICA")) {
            return Failure.READONLY;
        }
        if (Stream.of("NOPERM", "NOAUTH", "WRONGPASS", "THE USER EXECUTING THE SCRIPT")
                .anyMatch(message::contains)) {
            return Failure.AUTH;
        }
        if (message.contains("TRYAGAIN")) {
            return Failure.MOVING;
        }
        if (message.contains("MASTERDOWN") || message.contains("CLUSTERDOWN")) {
            return Failure.CLUSTER;
        }
        return Failure.ERROR;
    }
}
