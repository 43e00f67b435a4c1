package dev.ratelimit.redis;

import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisReadOnlyException;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What an exception of the client, or a server's reply in it, says. */
final class LettuceFailure {

    /** The place of an error of Lua itself, before its line; where a command failed is named with an at sign. */
    private static final String SCRIPT = "USER_SCRIPT:";

    private LettuceFailure() {}

    /** Converts an exception of the client. */
    static StoreFailure of(Throwable thrown) {
        Throwable cause = serverReply(thrown);
        if (cause instanceof TimeoutException) {
            return new StoreFailure(RemoteStoreFailure.TIMEOUT, "Redis did not answer in time");
        }
        StoreFailure.Reason reason = reason(cause);
        return reason == null
                ? StoreFailure.of(cause)
                : new StoreFailure(reason, Objects.requireNonNullElseGet(cause.getMessage(), cause::toString), cause);
    }

    /** The server's own reply, if any: when it rejects a connection, its reply is a cause of the client's exception. */
    private static Throwable serverReply(Throwable thrown) {
        Throwable told = StoreFailure.cause(thrown);
        for (Throwable cause = told; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisCommandExecutionException) {
                return cause;
            }
        }
        return told;
    }

    /** Why the server did not decide; {@code null} if the client does not say. */
    private static StoreFailure.@Nullable Reason reason(Throwable cause) {
        if (cause instanceof RedisCommandTimeoutException) {
            return RemoteStoreFailure.TIMEOUT;
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
        return cause instanceof RedisCommandExecutionException
                ? replied(String.valueOf(cause.getMessage()).toUpperCase(Locale.ROOT))
                : null;
    }

    /** Redis wraps an error inside a script in the script's name; before Redis 7, the error comes last. */
    private static StoreFailure.Reason replied(String message) {
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
        return isOfLua(message) ? RedisStoreFailure.SCRIPT : RemoteStoreFailure.ERROR;
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
