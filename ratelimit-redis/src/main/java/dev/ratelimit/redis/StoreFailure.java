package dev.ratelimit.redis;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisReadOnlyException;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

/** Redis did not decide. Has no stack trace: there may be many, and where it was noticed says nothing. */
final class StoreFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final RedisStore.Failure reason;

    StoreFailure(RedisStore.Failure reason, String message, Throwable cause) {
        super(message, cause, false, false);
        this.reason = reason;
    }

    StoreFailure(RedisStore.Failure reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    RedisStore.Failure reason() {
        return reason;
    }

    /** Whether it says something about the server, and not about one key or about ourselves. */
    boolean ofServer() {
        return reason != RedisStore.Failure.WRONG_TYPE
                && reason != RedisStore.Failure.OPEN
                && reason != RedisStore.Failure.SATURATED;
    }

    /** What this exception of the client means. */
    static StoreFailure of(Throwable thrown) {
        Throwable cause = thrown;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof StoreFailure failure
                ? failure
                : new StoreFailure(reason(cause), String.valueOf(cause.getMessage()), cause);
    }

    private static RedisStore.Failure reason(Throwable cause) {
        if (cause instanceof TimeoutException || cause instanceof RedisCommandTimeoutException) {
            return RedisStore.Failure.TIMEOUT;
        }
        if (cause instanceof RedisReadOnlyException) {
            return RedisStore.Failure.READONLY;
        }
        if (cause instanceof RedisLoadingException) {
            return RedisStore.Failure.LOADING;
        }
        if (cause instanceof RedisBusyException) {
            return RedisStore.Failure.BUSY;
        }
        if (cause instanceof RedisCommandExecutionException) {
            return replied(String.valueOf(cause.getMessage()).toUpperCase(Locale.ROOT));
        }
        return RedisStore.Failure.CONNECTION;
    }

    /** An error inside a script comes with the name of the script around it, before Redis 7 at the end. */
    private static RedisStore.Failure replied(String message) {
        if (message.contains("WRONGTYPE")) {
            return RedisStore.Failure.WRONG_TYPE;
        }
        if (message.contains("OOM ")) {
            return RedisStore.Failure.OOM;
        }
        if (message.contains("READONLY") || message.contains("READ ONLY REPLICA")) {
            return RedisStore.Failure.READONLY;
        }
        if (message.contains("NOPERM") || message.contains("NOAUTH") || message.contains("WRONGPASS")) {
            return RedisStore.Failure.AUTH;
        }
        if (message.contains("MASTERDOWN") || message.contains("CLUSTERDOWN") || message.contains("TRYAGAIN")) {
            return RedisStore.Failure.CLUSTER;
        }
        return RedisStore.Failure.ERROR;
    }
}
