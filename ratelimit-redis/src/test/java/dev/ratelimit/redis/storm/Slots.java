package dev.ratelimit.redis.storm;

import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.internal.ExceptionFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which server of a cluster has which slots, and which replica follows whom, as each server knows it. */
final class Slots {

    private final List<Server> servers;
    private final Server[] owners = new Server[SlotHash.SLOT_COUNT];
    private final Map<Integer, Server> importing = new HashMap<>();
    private final Map<Server, Server> masters = new HashMap<>();

    /** What a server says that has not heard of the latest changes. */
    private final Map<Server, String> stale = new HashMap<>();

    /** Creates a cluster of this many masters with the same number of slots each; the other servers are replicas. */
    Slots(List<Server> servers, int masters) {
        this.servers = servers;
        for (int slot = 0; slot < owners.length; slot++) {
            owners[slot] = servers.get(slot * masters / owners.length);
        }
        for (int i = masters; i < servers.size(); i++) {
            this.masters.put(servers.get(i), servers.get(i % masters));
        }
    }

    Server owner(String key) {
        return owners[SlotHash.getSlot(key)];
    }

    /** A replica of this master. */
    @Nullable
    Server replica(Server master) {
        return masters.entrySet().stream()
                .filter(entry -> entry.getValue() == master)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** Lets a replica take over; these servers do not hear of it before they are {@link #inform informed}. */
    void takeOver(Server master, Server replica, List<Server> unaware) {
        unaware.forEach(server -> stale.put(server, text(server)));
        for (int slot = 0; slot < owners.length; slot++) {
            if (owners[slot] == master) {
                owners[slot] = replica;
            }
        }
        importing.replaceAll((slot, target) -> target == master ? replica : target);
        masters.remove(replica);
        masters.put(master, replica);
    }

    void inform() {
        stale.clear();
    }

    /** Begins to move the slot of a key, unless it is being moved; its keys follow with {@link #moved}. */
    void move(String key, Server target) {
        importing.putIfAbsent(SlotHash.getSlot(key), target);
    }

    /** Moves the keys of all slots that are being moved, and ends the moves. */
    void moved() {
        importing.forEach((slot, target) -> {
            Server former = owners[slot];
            if (former != target) {
                former.data().moveTo(target.data(), key -> SlotHash.getSlot(key) == slot);
                owners[slot] = target;
            }
        });
        importing.clear();
    }

    /** Refuses a command at a server without the slot of its keys, or about several slots. */
    void check(Server server, String[] keys, boolean asking) {
        int slot = SlotHash.getSlot(keys[0]);
        Server owner = owners[slot];
        Server target = importing.get(slot);
        if (Arrays.stream(keys).anyMatch(key -> SlotHash.getSlot(key) != slot)) {
            throw error("CROSSSLOT Keys in request don't hash to the same slot");
        } else if (owner == server) {
            long here = Arrays.stream(keys).filter(server.data()::has).count();
            if (target != null && target != server && here < keys.length) {
                throw error(
                        here == 0
                                ? "ASK " + slot + " " + target.address()
                                : "TRYAGAIN Multiple keys request during rehashing of slot");
            }
        } else if (target != server || !asking) {
            throw error("MOVED " + slot + " " + owner.address());
        }
    }

    private static RuntimeException error(String text) {
        return ExceptionFactory.createExecutionException(text);
    }

    /** A server's answer to {@code CLUSTER NODES}. */
    String nodes(Server asked) {
        String old = stale.get(asked);
        return old == null ? text(asked) : old;
    }

    private String text(Server asked) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < servers.size(); i++) {
            Server server = servers.get(i);
            Server master = masters.get(server);
            text.append(id(server))
                    .append(' ')
                    .append(server.address())
                    .append("@16379 ")
                    .append(server == asked ? "myself," : "")
                    .append(master == null ? "master -" : "slave " + id(master))
                    .append(" 0 0 1 connected")
                    .append(ranges(server))
                    .append('\n');
        }
        return text.toString();
    }

    private String id(Server server) {
        return String.format(Locale.ROOT, "%040x", servers.indexOf(server) + 1);
    }

    private String ranges(Server server) {
        StringBuilder ranges = new StringBuilder();
        for (int from = 0; from < owners.length; from++) {
            if (owners[from] == server) {
                int to = from;
                while (to + 1 < owners.length && owners[to + 1] == server) {
                    to++;
                }
                ranges.append(' ').append(from).append(to > from ? "-" + to : "");
                from = to;
            }
        }
        return ranges.toString();
    }
}
