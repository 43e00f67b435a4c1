package dev.ratelimit.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** The server of a Lettuce client, or the master that its sentinels name. */
final class LettuceServer extends OneServer implements RedisConnectionStateListener {

    private final RedisClient client;

    /** Of the latest connection; the client's threads tell it. */
    private volatile String address = "";

    LettuceServer(RedisClient client) {
        this.client = client;
        client.setOptions(Topology.options(client.getOptions()));
        client.addListener(this);
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress connected) {
        if (!(connection instanceof StatefulRedisConnection)) {
            // a connection to a sentinel, which is only asked for the master
            return;
        }
        address = connected instanceof InetSocketAddress internet
                ? internet.getHostString() + ":" + internet.getPort()
                : connected.toString();
    }

    @Override
    public String title(String server) {
        return address;
    }

    @Override
    public Connection connect(String server) {
        return new LettuceConnection(server, client.connect(LettuceConnection.CODEC));
    }
}
