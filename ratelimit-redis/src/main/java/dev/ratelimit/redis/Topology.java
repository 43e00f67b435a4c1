package dev.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.time.Duration;
import java.util.Set;

/** The servers, their slots, and how to connect to them. Thread-safe. */
interface Topology {

    /** The maximum time of an attempt to connect. */
    Duration PATIENCE = Duration.ofSeconds(3);

    /** Any server, for a slot whose server is unknown. */
    String ANY = "";

    /** Whether servers redirect to each other. */
    boolean isCluster();

    /** The slot of a key of this name; all keys of one slot are always on one server. */
    int slot(String name);

    /** The server that has this slot, or {@link #ANY}. */
    String server(int slot);

    /** All servers with slots; empty while they are unknown. */
    Set<String> servers();

    /** Whether this server exists; true while the servers are unknown. */
    boolean has(String server);

    /** The server's name in log lines; empty while it is unknown. */
    String title(String server);

    /** Connects; blocks meanwhile. */
    Connection connect(String server);

    /**
     * Applies a server's answer to {@code CLUSTER NODES}.
     *
     * @param server the one that was asked, or {@link #ANY}
     * @return whether it contains the slots
     */
    boolean learn(String server, String nodes);

    /** Options that bound the client's queue, and keep it from sending twice and from hanging while connecting. */
    static ClientOptions options(ClientOptions like) {
        int maxQueued = 10_000;
        return like.mutate()
                .autoReconnect(false)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(Math.min(maxQueued, like.getRequestQueueSize()))
                .socketOptions(like.getSocketOptions()
                        .mutate()
                        .connectTimeout(shorter(like.getSocketOptions().getConnectTimeout()))
                        .build())
                .build();
    }

    /** The configured time, but at most {@link #PATIENCE}. */
    static Duration shorter(Duration configured) {
        return configured.isZero() || configured.compareTo(PATIENCE) > 0 ? PATIENCE : configured;
    }
}
