package dev.ratelimit.redis.storm;

import dev.ratelimit.redis.storm.World.Place;
import io.lettuce.core.RedisConnectionException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** How instances connect to servers: it takes time, may fail, and is not done without need. */
final class Connecting {

    private record Ends(Place place, Server server) {}

    private static final long RETRY_NANOS = 200_000_000;
    private static final int MAX_ATTEMPTS = 3;

    /** Of each link: the one in use, and late ones. */
    private static final long MAX_CONNECTIONS = 5;

    /** For how long a connection that was replaced is kept. */
    private static final double CLOSE_DELAY_NANOS = 1.1e9;

    /** To a server of a cluster that always answers: its own link, and those that look for any server. */
    private static final int MAX_GOOD_CONNECTIONS = 4;

    private final World world;
    private final Network network;
    private final Setup setup;
    private final Map<Ends, Integer> attempts = new HashMap<>();
    private final Map<Place, Long> ended = new HashMap<>();
    private final Map<Place, Long> began = new HashMap<>();
    private final Map<Ends, Integer> connects = new HashMap<>();
    private final Map<Place, Long> opened = new HashMap<>();
    private final Map<Place, Consumer<Wire>> afterwards = new HashMap<>();
    private final Set<Object> doubtful = new HashSet<>();

    Connecting(World world, Network network, Setup setup) {
        this.world = world;
        this.network = network;
        this.setup = setup;
    }

    /** How long it takes where nothing is wrong. */
    long nanos() {
        return setup.connectNanos() + 3 * (setup.farNanos() + Network.MAX_DELAY_NANOS);
    }

    /** Whether it takes no longer than the round trips. */
    boolean atOnce() {
        return setup.connectNanos() == 0;
    }

    /** Tells this after an instance has connected. */
    void afterwards(Place place, Consumer<Wire> told) {
        afterwards.put(place, told);
    }

    /** Records that an instance, a server, or the way from one to the other may lose what is sent. */
    void doubt(Object where) {
        doubtful.add(where);
    }

    /** Whether so many attempts are pending that an instance starts no other one. */
    boolean isFull(Place place, Server server) {
        return attempts.getOrDefault(new Ends(place, server), 0) >= MAX_ATTEMPTS;
    }

    /** Whether this instance has ever connected to this server. */
    boolean hasBeen(Place place, Server server) {
        return connects.containsKey(new Ends(place, server));
    }

    /** Whether this instance has been trying since then, perhaps a server that did not answer. */
    boolean triedSince(Place place, long nanos) {
        return ended.getOrDefault(place, Long.MIN_VALUE) >= nanos
                || attempts.entrySet().stream()
                        .anyMatch(entry -> entry.getKey().place == place && entry.getValue() > 0);
    }

    Wire connect(Place place, Server server) {
        Ends ends = new Ends(place, server);
        int now = attempts.merge(ends, 1, Integer::sum);
        // by its own link, and in a cluster by that to any server
        world.require(
                now <= MAX_ATTEMPTS * Math.min(2, setup.masters()),
                "%s has %d attempts to connect to %s",
                place,
                now,
                server);
        long beganNanos = world.now();
        began.put(place, beganNanos);
        world.in(Network.CONNECT_NANOS + Restraint.PROMPT_NANOS, world.outside(), () -> requireNext(ends, beganNanos));
        try {
            return connected(place, server);
        } finally {
            attempts.merge(ends, -1, Integer::sum);
            ended.put(place, world.now());
            world.in(Restraint.PROMPT_NANOS, world.outside(), () -> requireNext(ends, beganNanos));
        }
    }

    /** If the server is probed in vain while an attempt is under way, another attempt follows the one that fails. */
    private void requireNext(Ends ends, long beganNanos) {
        long latest = Math.max(began.getOrDefault(ends.place, beganNanos), opened.getOrDefault(ends.place, beganNanos));
        world.require(
                latest > beganNanos
                        || attempts.getOrDefault(ends, 0) >= MAX_ATTEMPTS
                        || !ends.place.startsThreads()
                        || ends.place.stillUntil > beganNanos
                        || !network.hasProbedInVain(ends.place, beganNanos),
                "%s makes no other attempt to connect to %s, which it has probed in vain meanwhile",
                ends.place,
                ends.server);
    }

    private Wire connected(Place place, Server server) {
        sleep(place, 3 * network.delay(place, server) + setup.connectNanos());
        awaitThat(place, () -> network.passes(place, server), Network.CONNECT_NANOS);
        if (!network.passes(place, server)) {
            throw unable(server, "connection timed out");
        }
        if (!server.isUp() || network.refuses(place, server)) {
            throw unable(server, "connection refused");
        }
        // the kernel accepts, but nobody answers the first command
        awaitThat(place, () -> !server.isHanging() && network.passes(place, server), setup.handshakeNanos());
        if (server.isHanging() || !network.passes(place, server) || !server.isUp()) {
            throw unable(server, "connection initialization timed out");
        }
        Wire wire = network.open(place, server);
        world.note(() -> place + ": connects to " + server);
        opened.put(place, world.now());
        requireReason(place, server);
        afterwards.getOrDefault(place, connection -> {}).accept(wire);
        long open = network.connections(place, server);
        world.require(
                open <= maxConnections() * Math.min(2, setup.masters()),
                "%s has %d connections to %s",
                place,
                open,
                server);
        return wire;
    }

    /** Besides those in use, a connection may be replaced after each probe. */
    private long maxConnections() {
        return MAX_CONNECTIONS + (long) (CLOSE_DELAY_NANOS / setup.openForNanos());
    }

    /** Checks that an instance keeps a connection on which a server answers, whatever it answers. */
    private void requireReason(Place place, Server server) {
        int times = connects.merge(new Ends(place, server), 1, Integer::sum);
        boolean reason = setup.connectNanos() > 0
                || network.hasInterrupts(place)
                || network.asksTooOften(place, world.now() - 2 * setup.deadlineNanos())
                || doubtful.contains(place)
                || doubtful.contains(server)
                || doubtful.contains(List.of(place, server));
        world.require(
                reason || times <= (setup.masters() == 1 ? 1 : MAX_GOOD_CONNECTIONS),
                "%s connects to %s, which answers, %d times",
                place,
                server,
                times);
    }

    private static RedisConnectionException unable(Server server, String why) {
        return new RedisConnectionException("Unable to connect to " + server + ": " + why);
    }

    /** Waits until a condition holds, for this time at most. */
    private void awaitThat(Place place, BooleanSupplier condition, long nanos) {
        long end = world.now() + nanos;
        while (!condition.getAsBoolean() && world.now() < end) {
            sleep(place, RETRY_NANOS);
        }
    }

    static void sleep(Place place, long nanos) {
        try {
            boolean unused = place.await(new CompletableFuture<>(), nanos);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
