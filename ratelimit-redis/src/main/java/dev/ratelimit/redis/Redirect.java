package dev.ratelimit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A cluster node's reply that another one has the slot.
 *
 * @param server the other one
 * @param asking whether this applies to one command only, while the slot is being moved
 */
record Redirect(String server, boolean asking) {

    private static final Pattern REPLY = Pattern.compile("(MOVED|ASK) \\d+ (.*):(\\d+)");

    /** The redirect in this failure, or {@code null}. */
    static @Nullable Redirect of(Throwable failure, String from) {
        Matcher reply = REPLY.matcher(String.valueOf(failure.getMessage()));
        if (!(failure instanceof RedisCommandExecutionException) || !reply.matches()) {
            return null;
        }
        // without a host: the replying server does not know by which name it was reached
        String host = reply.group(2).isEmpty() ? from.substring(0, Math.max(0, from.lastIndexOf(':'))) : reply.group(2);
        return new Redirect(host + ":" + reply.group(3), reply.group(1).equals("ASK"));
    }
}
