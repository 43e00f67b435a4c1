package dev.ratelimit.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.models.partitions.Partitions;

/** Connects to the nodes of a cluster, and finds the first of them. Every method may block. Thread-safe. */
interface ClusterConnector {

    /** The nodes that the initially configured ones named at first. */
    Partitions nodes();

    /** Asks the initially configured nodes again. */
    Partitions refresh();

    /**
     * Opens a connection.
     *
     * @param server the name that the connection carries
     */
    Connection connect(String server, RedisURI uri);
}
