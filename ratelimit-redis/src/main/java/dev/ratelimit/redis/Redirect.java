package dev.ratelimit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A cluster node's reply that another one has the slot.
 *
 * @param server the other one
 * @param asking whether this applies to one command only, while the slot is being moved
 */
record Redirect(String server, boolean asking) {

    /** The redirect in this failure, or {@code null}. */
    static @Nullable Redirect of(Throwable failure, String from) {
        String reply = String.valueOf(failure.getMessage());
        boolean asking = reply.startsWith("ASK ");
        int slot = reply.indexOf(' ');
        int server = reply.indexOf(' ', slot + 1);
        int port = reply.lastIndexOf(':');
        if (!(failure instanceof RedisCommandExecutionException)
                || !(asking || reply.startsWith("MOVED "))
                || !isNumber(reply, slot + 1, server)
                || !isNumber(reply, port + 1, reply.length())
                || port <= server) {
            return null;
        }
        String told = reply.substring(server + 1, port);
        // without a host, or a name that it should have and has not, the server is the one that has replied
        boolean unknown = told.isEmpty() || told.equals("?");
        String host = unknown ? from.substring(0, Math.max(0, from.lastIndexOf(':'))) : told;
        return new Redirect(host + reply.substring(port), asking);
    }

    private static boolean isNumber(String text, int from, int to) {
        return from < to && text.substring(from, to).chars().allMatch(Character::isDigit);
    }
}
