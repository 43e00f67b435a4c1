package dev.ratelimit.redis;

import java.util.Set;

/** A single server, which has all slots. */
abstract class OneServer implements Topology {

    @Override
    public final boolean isCluster() {
        return false;
    }

    @Override
    public final int slot(String name) {
        return 0;
    }

    @Override
    public final String server(int slot) {
        return ANY;
    }

    @Override
    public final Set<String> servers() {
        return Set.of(ANY);
    }

    @Override
    public final boolean has(String server) {
        return server.equals(ANY);
    }

    @Override
    public final boolean learn(String server, String nodes) {
        return true;
    }
}
