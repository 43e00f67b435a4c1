package dev.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/** How a client of each kind connects, and how it is set up so that nothing is queued without bound or sent twice. */
final class Connectors {

    private static final int MOST_QUEUED = 10_000;

    private Connectors() {}

    /** To one server, or the master that sentinels name. */
    record Single(RedisClient client) implements Link.Connector {

        Single {
            ClientOptions options = client.getOptions();
            client.setOptions(options.mutate()
                    .autoReconnect(false)
                    .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                    .requestQueueSize(Math.min(MOST_QUEUED, options.getRequestQueueSize()))
                    .build());
        }

        @Override
        public Link.Live connect() {
            StatefulRedisConnection<String, byte[]> connection = client.connect(Link.CODEC);
            return new Link.Live(connection, connection.async(), new OneServer());
        }

        @Override
        public int slot(String name) {
            return 0;
        }
    }

    /** To the servers of a cluster. Where slots are is asked anew when they turn out to be elsewhere. */
    @SuppressWarnings("FutureReturnValueIgnored") // if the servers cannot be asked, the next attempt asks again
    record Cluster(RedisClusterClient client, AtomicBoolean connected) implements Link.Connector {

        private static final Duration REFRESH_AT_MOST_EVERY = Duration.ofSeconds(1);

        /** A server that hangs holds up for so long to hear from the others where slots are. */
        private static final Duration REFRESH_PATIENCE = Duration.ofSeconds(2);

        Cluster(RedisClusterClient client) {
            this(client, new AtomicBoolean());
        }

        Cluster {
            ClientOptions options = client.getOptions();
            SocketOptions socket = options.getSocketOptions();
            Duration patience = socket.getConnectTimeout();
            ClusterClientOptions.Builder builder = options instanceof ClusterClientOptions cluster
                    ? cluster.mutate()
                    : ClusterClientOptions.builder(options);
            client.setOptions(builder.autoReconnect(false)
                    .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                    .requestQueueSize(Math.min(MOST_QUEUED, options.getRequestQueueSize()))
                    .socketOptions(socket.mutate()
                            .connectTimeout(patience.compareTo(REFRESH_PATIENCE) < 0 ? patience : REFRESH_PATIENCE)
                            .build())
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .adaptiveRefreshTriggersTimeout(REFRESH_AT_MOST_EVERY)
                            .build())
                    .build());
        }

        @Override
        public Link.Live connect() {
            if (connected.getAndSet(true)) {
                // that a replica has taken over from a master that is gone, nobody says unasked
                client.refreshPartitionsAsync();
            }
            StatefulRedisClusterConnection<String, byte[]> connection = client.connect(Link.CODEC);
            return new Link.Live(connection, connection.async(), new Masters(connection));
        }

        @Override
        public int slot(String name) {
            return SlotHash.getSlot(name);
        }
    }

    private record OneServer() implements Link.Topology {

        private static final String NAME = "";

        @Override
        public String server(int slot) {
            return NAME;
        }

        @Override
        public Set<String> servers() {
            return Set.of(NAME);
        }
    }

    private record Masters(StatefulRedisClusterConnection<String, byte[]> connection) implements Link.Topology {

        @Override
        public String server(int slot) {
            RedisClusterNode node = connection.getPartitions().getPartitionBySlot(slot);
            return node == null ? "" : node.getNodeId();
        }

        @Override
        public Set<String> servers() {
            return connection.getPartitions().stream()
                    .filter(node -> !node.hasNoSlots())
                    .map(RedisClusterNode::getNodeId)
                    .collect(Collectors.toSet());
        }
    }
}
