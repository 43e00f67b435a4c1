package dev.ratelimit.redis;

import dev.ratelimit.Ticker;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The masters of a cluster, named by host and port. Each has its own connection, so that losing one does not affect the
 * others. The given client discovers the slots once; from then on any server is asked.
 */
final class Cluster implements Topology {

    /** The minimum time between two searches for other servers while no known server can be reached. */
    private static final long LOOK_NANOS = 10_000_000_000L;

    /** The server of each slot; {@code uris} has all servers, including replicas. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Slots(String[] servers, Set<String> masters, Map<String, RedisURI> uris) {}

    private final ClusterConnector connector;
    private final Ticker ticker;
    private final AtomicInteger next;
    private final AtomicLong lookAt;

    /** Replaced as a whole; of two servers that are asked at the same time, either may be heard last. */
    private volatile @Nullable Slots known;

    /** The server that the latest connection to any of them leads to. */
    private volatile @Nullable RedisURI last;

    /**
     * Creates a cluster whose nodes are not known yet.
     *
     * @param random chooses the first node to ask, so that instances do not all ask the same one
     */
    Cluster(ClusterConnector connector, Ticker ticker, RandomGenerator random) {
        this.connector = connector;
        this.ticker = ticker;
        this.next = new AtomicInteger(random.nextInt(1 << 16));
        this.lookAt = new AtomicLong(ticker.nanos());
    }

    @Override
    public boolean isCluster() {
        return true;
    }

    @Override
    public int slot(String name) {
        return SlotHash.getSlot(name);
    }

    @Override
    public String server(int slot) {
        Slots slots = known;
        return slots == null ? ANY : slots.servers[slot];
    }

    @Override
    public Set<String> servers() {
        Slots slots = known;
        return slots == null ? Set.of() : slots.masters;
    }

    @Override
    public boolean has(String server) {
        Slots slots = known;
        return slots == null || server.equals(ANY) || slots.uris.containsKey(server);
    }

    @Override
    public String title(String server) {
        RedisURI asked = last;
        return server.equals(ANY) && asked != null ? name(asked) : server;
    }

    private static String name(RedisURI uri) {
        return uri.getHost() + ":" + uri.getPort();
    }

    @Override
    public Connection connect(String server) {
        Slots slots = known;
        if (slots == null) {
            slots = slots(connector.nodes());
            known = slots;
        }
        return server.equals(ANY) ? connectToAny(slots) : connector.connect(server, uri(slots, server));
    }

    /** Asks another server each time, because the last one may be the problem. */
    private Connection connectToAny(Slots slots) {
        List<RedisURI> all = List.copyOf(slots.uris.values());
        RedisException failure = new RedisException("the cluster has no known nodes");
        for (int i = 0; i < all.size(); i++) {
            RedisURI uri = all.get(Math.floorMod(next.getAndIncrement(), all.size()));
            try {
                Connection connection = connector.connect(ANY, uri);
                last = uri;
                return connection;
            } catch (RedisException e) {
                failure = e;
            }
        }
        lookForOthers();
        throw failure;
    }

    /** Asks the initially configured nodes for others, because no known server can be reached. */
    private void lookForOthers() {
        long now = ticker.nanos();
        long due = lookAt.get();
        // the client logs a warning for each server that it cannot reach
        if (now - due < 0 || !lookAt.compareAndSet(due, now + LOOK_NANOS)) {
            return;
        }
        believe(slots(connector.refresh()));
    }

    /** Ignores a node without slots: it has left the cluster or has not joined it yet. */
    private boolean believe(Slots slots) {
        boolean credible = !slots.masters.isEmpty();
        if (credible) {
            known = slots;
        }
        return credible;
    }

    /** The URI of a server; an unknown one gets another server's settings with its own host and port. */
    private static RedisURI uri(Slots slots, String server) {
        RedisURI uri = slots.uris.get(server);
        int colon = server.lastIndexOf(':');
        return uri != null
                ? uri
                : like(
                        slots.uris.values().iterator().next(),
                        server.substring(0, colon),
                        Integer.parseInt(server.substring(colon + 1)));
    }

    private static RedisURI like(RedisURI other, String host, int port) {
        return RedisURI.builder(other)
                .withHost(host)
                .withPort(port)
                .withTimeout(Topology.shorter(other.getTimeout()))
                .build();
    }

    @Override
    public boolean learn(String server, String nodes) {
        Partitions partitions = ClusterPartitionParser.parse(nodes);
        Slots slots = known;
        RedisURI asked = server.equals(ANY) || slots == null ? last : slots.uris.get(server);
        for (RedisClusterNode node : partitions) {
            if (node.getUri() == null && node.is(RedisClusterNode.NodeFlag.MYSELF) && asked != null) {
                // a server that no other node has contacted does not know its own address
                node.setUri(asked);
            } else if (node.getUri() != null && slots != null) {
                RedisURI uri = node.getUri();
                node.setUri(like(slots.uris.values().iterator().next(), uri.getHost(), uri.getPort()));
            }
        }
        return believe(slots(partitions));
    }

    private static Slots slots(Partitions partitions) {
        String[] servers = new String[SlotHash.SLOT_COUNT];
        Arrays.fill(servers, ANY);
        Set<String> masters = new HashSet<>();
        Map<String, RedisURI> uris = new HashMap<>();
        for (RedisClusterNode node : partitions) {
            if (node.getUri() == null) {
                continue;
            }
            String server = name(node.getUri());
            uris.put(
                    server,
                    like(node.getUri(), node.getUri().getHost(), node.getUri().getPort()));
            node.getSlots().forEach(slot -> servers[slot] = server);
            if (!node.getSlots().isEmpty()) {
                masters.add(server);
            }
        }
        return new Slots(servers, masters, uris);
    }
}
