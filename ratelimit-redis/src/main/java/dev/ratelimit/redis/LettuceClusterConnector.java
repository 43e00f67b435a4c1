package dev.ratelimit.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.Partitions;
import java.time.Duration;

/** Connects with the Lettuce client, to each node by a connection of its own. */
final class LettuceClusterConnector implements ClusterConnector {

    /** The maximum time that a hanging server delays asking the others where the slots are. */
    private static final Duration FIRST_PATIENCE = Duration.ofSeconds(2);

    private final RedisClusterClient seeds;
    private final RedisClient client;

    LettuceClusterConnector(RedisClusterClient seeds) {
        this.seeds = seeds;
        this.client = RedisClient.create(seeds.getResources());
        client.setOptions(Topology.options(seeds.getOptions()));
        Duration configured = seeds.getOptions().getSocketOptions().getConnectTimeout();
        if (configured.compareTo(FIRST_PATIENCE) > 0 && seeds.getOptions() instanceof ClusterClientOptions options) {
            seeds.setOptions(options.mutate()
                    .socketOptions(options.getSocketOptions()
                            .mutate()
                            .connectTimeout(FIRST_PATIENCE)
                            .build())
                    .build());
        }
    }

    @Override
    public Partitions nodes() {
        return seeds.getPartitions();
    }

    @Override
    public Partitions refresh() {
        seeds.refreshPartitions();
        return seeds.getPartitions();
    }

    @Override
    public Connection connect(String server, RedisURI uri) {
        return new LettuceConnection(server, client.connect(LettuceConnection.CODEC, uri));
    }
}
