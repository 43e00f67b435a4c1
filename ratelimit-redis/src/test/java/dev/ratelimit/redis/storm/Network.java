package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.storm.History.Setup;
import dev.ratelimit.redis.storm.World.Place;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The servers, and what is between them and the instances. */
final class Network {

    /** What happens to the messages between an instance and a server. */
    private static final class Route {
        private long slowerNanos;
        private boolean black;
        private boolean refusing;
    }

    private record Ends(Place place, Server server) {}

    private static final long MIN_DELAY_NANOS = 50_000;
    private static final long MAX_DELAY_NANOS = 400_000;

    private static final long RETRY_NANOS = 200_000_000;
    private static final int MAX_ATTEMPTS = 3;

    /** Of each link: the one in use, those that it replaced in the last second, and late ones. */
    private static final long MAX_CONNECTIONS = 6;

    /** To a server of a cluster that always answers: its own link, and those that look for any server. */
    private static final int MAX_GOOD_CONNECTIONS = 4;

    /** How often an instance asks for the slots of a cluster at most. */
    private static final long REFRESH_NANOS = 1_000_000_000;

    /** How long a client waits for a server that does not answer its attempt to connect. */
    private static final long CONNECT_NANOS = 3_000_000_000L;

    private final World world;
    private final Books books;
    private final Setup setup;
    private final Map<Ends, Integer> connecting = new HashMap<>();
    private final Map<Place, Integer> interrupts = new HashMap<>();
    private final Map<Place, Long> refreshes = new HashMap<>();
    private final Map<Place, IntConsumer> beforeDecisions = new HashMap<>();
    private final Map<Place, Runnable> afterConnecting = new HashMap<>();
    private final Map<Ends, Integer> connects = new HashMap<>();
    private final Set<Object> doubtful = new HashSet<>();
    private long calmSince;
    private final Map<String, Server> servers = new HashMap<>();
    private final List<Server> all = new ArrayList<>();
    private final Map<Ends, Route> routes = new HashMap<>();
    private final Set<Wire> wires = new LinkedHashSet<>();
    private @Nullable Slots slots;
    private final List<Server> masters;

    /** Creates a network with this many servers, half of them masters. */
    Network(World world, Books books, int size, Setup setup) {
        this.setup = setup;
        this.world = world;
        this.books = books;
        for (int i = 0; i < size; i++) {
            Server server = new Server(world, "10.0.0." + (i + 1) + ":6379");
            all.add(server);
            servers.put(server.address(), server);
        }
        masters = new ArrayList<>(all.subList(0, size / 2));
    }

    List<Server> servers() {
        return all;
    }

    Server server(String address) {
        Server known = servers.get(address);
        if (known == null) {
            throw new IllegalArgumentException("no server " + address);
        }
        return known;
    }

    /** Makes them a cluster. */
    void cluster(Slots owners) {
        slots = owners;
    }

    @Nullable
    Slots slots() {
        return slots;
    }

    /** The servers that now have the data; a single one unless they form a cluster. */
    List<Server> masters() {
        return masters;
    }

    /** A server that has no data, to take over from another one. */
    @Nullable
    Server spare() {
        return all.stream()
                .filter(server -> !masters.contains(server))
                .findFirst()
                .orElse(null);
    }

    /** Lets another server take a master's place. */
    void replace(Server master, Server other) {
        masters.set(masters.indexOf(master), other);
    }

    private Route route(Place place, Server server) {
        return routes.computeIfAbsent(new Ends(place, server), ends -> new Route());
    }

    void slowDown(Place place, Server server, long nanos) {
        route(place, server).slowerNanos = nanos;
    }

    /** Swallows all messages, without telling anybody; connections that had some are dead for ever. */
    void swallow(Place place, Server server, boolean swallows) {
        route(place, server).black = swallows;
    }

    /** Refuses new connections. */
    void refuse(Place place, Server server, boolean refuses) {
        route(place, server).refusing = refuses;
    }

    /** Cuts the connections of this instance to this server. */
    void cut(Place place, Server server, boolean told) {
        for (Wire wire : List.copyOf(wires)) {
            if (wire.place() == place && wire.server() == server) {
                if (told) {
                    wire.cut();
                } else {
                    wire.falterSilently();
                }
            }
        }
    }

    boolean passes(Place place, Server server) {
        return !route(place, server).black;
    }

    long delay(Place place, Server server) {
        return MIN_DELAY_NANOS
                + (long) (world.random.nextDouble() * world.random.nextDouble() * (MAX_DELAY_NANOS - MIN_DELAY_NANOS))
                + route(place, server).slowerNanos;
    }

    /** Whether connecting takes no longer than the round trips. */
    boolean connectsAtOnce() {
        return setup.connectNanos() == 0;
    }

    /** Records that a fault begins or ends. */
    void disturbed() {
        calmSince = world.now();
    }

    /** Whether no fault has begun or ended since then. */
    boolean calmSince(long nanos) {
        return calmSince < nanos;
    }

    /** How long a decision waits. */
    long deadlineNanos() {
        return setup.deadlineNanos();
    }

    /** The server that has this key. */
    Server server(Charge charge) {
        return owner(Seam.firstKey(Books.PREFIX, charge));
    }

    /** The server that has the key of this name. */
    Server owner(String key) {
        return slots == null ? masters.get(0) : slots.owner(key);
    }

    /** Whether nothing is wrong between this instance and this server. */
    boolean isWell(Place place, Server server) {
        Route route = route(place, server);
        return server.isWell() && place.startsThreads() && !route.black && !route.refusing && route.slowerNanos == 0;
    }

    /** Whether a new connection, in place of one to this server, would lead to a server with which nothing is wrong. */
    boolean isReachable(Place place, Server server) {
        return isWell(place, slots == null ? masters.get(0) : server);
    }

    /** Checks this before an instance sends decisions, given how many. */
    void beforeDecisions(Place place, IntConsumer check) {
        beforeDecisions.put(place, check);
    }

    /** Tells this after an instance has connected. */
    void afterConnecting(Place place, Runnable told) {
        afterConnecting.put(place, told);
    }

    /** Records that an instance, a server, or the way from one to the other may lose what is sent. */
    void doubt(Object where) {
        doubtful.add(where);
    }

    /** Checks that an instance keeps a connection on which a server answers, whatever it answers. */
    private void requireReason(Place place, Server server) {
        int times = connects.merge(new Ends(place, server), 1, Integer::sum);
        boolean reason = setup.connectNanos() > 0
                || hasInterrupts(place)
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

    /** Checks that no more commands with decisions are under way than an instance may have. */
    void sent(Place place, Server server, int decisions) {
        if (decisions > 0) {
            beforeDecisions.getOrDefault(place, count -> {}).accept(decisions);
        }
        long sinceNanos = world.now() - setup.deadlineNanos();
        long underWay = 0;
        for (Wire wire : wires) {
            if (wire.place() == place && wire.server() == server) {
                underWay += wire.decisionsSince(sinceNanos);
            }
        }
        // a probe is admitted beyond the maximum, and nobody waits any more for what an interrupted caller sent
        world.require(
                underWay <= setup.maxInFlight() + 1 + interrupts.getOrDefault(place, 0),
                "%s has %d decisions under way to %s",
                place,
                underWay,
                server);
    }

    /** Whether a caller of it was interrupted: its waiting in vain says nothing about a connection. */
    boolean hasInterrupts(Place place) {
        return interrupts.containsKey(place);
    }

    /** Records that a caller of this instance is interrupted. */
    void interrupted(Place place) {
        interrupts.merge(place, 1, Integer::sum);
    }

    /** How many connections this instance has. */
    long connections(Place place) {
        return wires.stream().filter(wire -> wire.place() == place).count();
    }

    /** Checks that an instance does not ask for the slots all the time. */
    void refreshed(Place place) {
        Long last = refreshes.put(place, world.now());
        // connecting may delay the former one
        if (setup.connectNanos() == 0 && last != null && calmSince < last) {
            world.require(
                    world.now() - last >= REFRESH_NANOS / 2,
                    "%s asks for the slots %.3f s after it asked before",
                    place,
                    (world.now() - last) / 1e9);
        }
    }

    void closed(Wire wire) {
        wires.remove(wire);
    }

    /** How an instance sees it. */
    Seam.Net from(Place place) {
        return new Seam.Net() {
            @Override
            public Seam.Wire connect(String address) {
                return Network.this.connect(place, address.isEmpty() ? masters.get(0) : server(address));
            }

            @Override
            public String clusterNodes() {
                for (Server server : all) {
                    if (isWell(place, server)) {
                        sleep(place, 2 * delay(place, server));
                        return Network.this.clusterNodes(server);
                    }
                }
                sleep(place, CONNECT_NANOS);
                throw new RedisException("Unable to establish a connection to any of the cluster's nodes");
            }
        };
    }

    private Wire connect(Place place, Server server) {
        int attempts = connecting.merge(new Ends(place, server), 1, Integer::sum);
        // by its own link, and in a cluster by that to any server
        world.require(
                attempts <= MAX_ATTEMPTS * Math.min(2, setup.masters()),
                "%s has %d attempts to connect to %s",
                place,
                attempts,
                server);
        try {
            return connected(place, server);
        } finally {
            connecting.merge(new Ends(place, server), -1, Integer::sum);
        }
    }

    private Wire connected(Place place, Server server) {
        sleep(place, 3 * delay(place, server) + setup.connectNanos());
        awaitThat(place, () -> passes(place, server), CONNECT_NANOS);
        if (!passes(place, server)) {
            throw unable(server, "connection timed out");
        }
        if (!server.isUp() || route(place, server).refusing) {
            throw unable(server, "connection refused");
        }
        // the kernel accepts, but nobody answers the first command
        awaitThat(place, () -> !server.isHanging() && passes(place, server), setup.handshakeNanos());
        if (server.isHanging() || !passes(place, server) || !server.isUp()) {
            throw unable(server, "connection initialization timed out");
        }
        Wire wire = new Wire(world, this, place, server);
        server.accept(wire);
        wires.add(wire);
        requireReason(place, server);
        afterConnecting.getOrDefault(place, () -> {}).run();
        long open = wires.stream()
                .filter(other -> other.place() == place && other.server() == server)
                .count();
        world.require(
                open <= MAX_CONNECTIONS * Math.min(2, setup.masters()),
                "%s has %d connections to %s",
                place,
                open,
                server);
        return wire;
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

    private static void sleep(Place place, long nanos) {
        try {
            boolean unused = place.await(new CompletableFuture<>(), nanos);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs a script at a server, as far as the server has the slot of its keys. */
    long[] run(Server server, @Nullable String text, String sha, boolean asking, String[] keys, byte[][] arguments) {
        if (slots != null) {
            slots.check(server, keys, asking);
        }
        ScriptServer data = server.data();
        long[] reply = text == null ? data.evalSha(sha, keys, arguments) : data.eval(text, keys, arguments);
        books.ran(keys, arguments, reply);
        return reply;
    }

    String clusterNodes(Server asked) {
        if (slots == null) {
            throw new IllegalStateException("not a cluster");
        }
        return slots.nodes(asked);
    }
}
