package dev.ratelimit.redis.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.redis.Seam;
import dev.ratelimit.redis.server.ScriptServer;
import dev.ratelimit.redis.storm.Step.Fault;
import dev.ratelimit.redis.storm.World.Place;
import io.lettuce.core.RedisException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

    private static final String PROBE = ":~probe:";

    private static final long MIN_DELAY_NANOS = 50_000;
    static final long MAX_DELAY_NANOS = 400_000;

    /** How often an instance asks for the slots of a cluster at most. */
    private static final long REFRESH_NANOS = 1_000_000_000;

    /** How long after an attempt to connect has ended a command that waited for it is sent. */
    private static final long CONNECTED_NANOS = 1_000_000;

    /** How long a client waits for a server that does not answer its attempt to connect. */
    static final long CONNECT_NANOS = 3_000_000_000L;

    private final World world;
    private final Books books;
    private final Setup setup;
    private final Connecting connecting;
    private final Map<Place, Integer> interrupts = new HashMap<>();
    private final Map<Place, Long> refreshes = new HashMap<>();
    private final Map<Place, Deque<Long>> again = new HashMap<>();
    private final Map<Place, Instance> instances = new LinkedHashMap<>();
    private int faults;
    private long calmSince;
    private final Map<String, Server> servers = new HashMap<>();
    private long refusedWrites;
    private final List<Server> all = new ArrayList<>();
    private final Map<Ends, Route> routes = new HashMap<>();
    private final Set<Wire> wires = new LinkedHashSet<>();
    private @Nullable Slots slots;
    private final List<Server> masters;

    /** Lets the next replies between an instance and a server get out of step, or pass again. */
    void confuse(Place place, Server server, @Nullable Fault how) {
        wires.stream()
                .filter(wire -> wire.place() == place && wire.server() == server)
                .forEach(wire -> wire.confuse(how));
    }

    /** Creates a network with this many servers, half of them masters. */
    Network(World world, Books books, int size, Setup setup) {
        this.setup = setup;
        this.world = world;
        this.books = books;
        this.connecting = new Connecting(world, this, setup);
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

    /** How often a server has said that it cannot write, which is enough to leave it alone. */
    long refusedWrites() {
        return refusedWrites;
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
                + setup.farNanos()
                + route(place, server).slowerNanos;
    }

    /** Records that a fault begins, which also ends. */
    void faultBegins() {
        faults++;
        calmSince = world.now();
    }

    void faultEnds() {
        faults--;
        calmSince = world.now();
        world.in(Storm.RECOVERY_NANOS, world.outside(), this::requireUsed);
    }

    /**
     * After each fault, not only the last one, servers are used again within this time, whether or not anybody asks; and
     * so is one whose connection was found to be dead later.
     */
    void requireUsed() {
        long since = world.now() - Storm.RECOVERY_NANOS;
        for (Instance instance : instances.values()) {
            world.require(
                    !calmSince(since + 1) || !instance.leavesAloneSince(since),
                    "%s leaves a server alone although all has been well for %d s",
                    instance.place(),
                    Storm.RECOVERY_NANOS / 1_000_000_000);
        }
    }

    /** Whether there has been no fault since then. */
    boolean calmSince(long nanos) {
        return faults == 0 && calmSince < nanos;
    }

    /** How long a decision waits. */
    long deadlineNanos() {
        return setup.deadlineNanos();
    }

    /** The server that has this key. */
    Server server(Charge charge) {
        return owner(Seam.slowestKey(Books.PREFIX, charge));
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

    /** Records which instance lives in a place. */
    void add(Instance instance) {
        instances.put(instance.place(), instance);
    }

    private Instance instance(Place place) {
        return Objects.requireNonNull(instances.get(place));
    }

    /** Whether the last probe that an instance sent after this time was in vain. */
    boolean hasProbedInVain(Place place, long nanos) {
        Instance known = instances.get(place);
        return known != null && known.hasProbedInVain(nanos);
    }

    /** Records that an instance gets a reply, which is {@code null} if the server refuses. */
    void told(Place place, String[] keys, byte[][] arguments, long @Nullable [] reply) {
        books.told(place, keys, arguments, reply);
        if (isProbe(keys)) {
            instance(place).probeAnswered();
        }
        if (reply != null && Asked.isUndecided(reply)) {
            asksAgain(place);
        }
    }

    /** Records that an instance has to ask again: the server does not know its script, has not its slot, and so on. */
    void asksAgain(Place place) {
        again.computeIfAbsent(place, asking -> new ArrayDeque<>()).addFirst(world.now());
    }

    /** Whether what an instance asked since then may have taken more round trips than there was time for. */
    boolean asksTooOften(Place place, long sinceNanos) {
        long roundTrips = 1
                + again.getOrDefault(place, new ArrayDeque<>()).stream()
                        .takeWhile(at -> at >= sinceNanos)
                        .count();
        long roundTrip = 2 * (setup.farNanos() + MAX_DELAY_NANOS);
        return roundTrips > 1 && roundTrips * roundTrip + Storm.WAKE_NANOS >= setup.deadlineNanos();
    }

    /** Records that an instance takes an error for that of another command: errors do not repeat what was asked. */
    void misled(Place place) {
        books.misled(place);
    }

    /** Records that an instance sends a script. */
    void sends(Place place, String[] keys, byte[][] arguments) {
        if (isProbe(keys)) {
            if (Asked.operation(arguments).equals("charge")) {
                // its other command follows
                instance(place).probes(arguments);
            }
        } else {
            if (Asked.operation(arguments).equals("refund")) {
                instance(place).refunds();
            }
            books.sends(place, keys, arguments);
        }
    }

    /** Whether these are no keys of callers, but those that probes ask for. */
    static boolean isProbe(String[] keys) {
        return keys.length == 1 && keys[0].contains(PROBE);
    }

    /** Checks that no more commands with decisions are under way than an instance may have. */
    void sent(Place place, Server server, int decisions) {
        if (decisions > 0) {
            instance(place).sends(decisions);
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
                underWay <= setup.maxInFlight() + 1 + interrupts.getOrDefault(place, 0)
                        || asksTooOften(place, sinceNanos - setup.deadlineNanos()),
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

    /** How an instance connects. */
    Connecting connecting() {
        return connecting;
    }

    boolean refuses(Place place, Server server) {
        return route(place, server).refusing;
    }

    /** How many connections this instance has to this server. */
    long connections(Place place, Server server) {
        return wires.stream()
                .filter(wire -> wire.place() == place && wire.server() == server)
                .count();
    }

    /** How many connections this instance has. */
    long connections(Place place) {
        return wires.stream().filter(wire -> wire.place() == place).count();
    }

    /** Checks that an instance does not ask for the slots all the time. */
    void refreshed(Place place) {
        Long last = refreshes.put(place, world.now());
        // connecting may delay the former one
        if (last != null && calmSince < last && !connecting.triedSince(place, last - CONNECTED_NANOS)) {
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
                return connecting.connect(place, address.isEmpty() ? masters.get(0) : server(address));
            }

            @Override
            public String clusterNodes() {
                for (Server server : all) {
                    if (isWell(place, server)) {
                        Connecting.sleep(place, 2 * delay(place, server));
                        return Network.this.clusterNodes(server);
                    }
                }
                Connecting.sleep(place, CONNECT_NANOS);
                throw new RedisException("Unable to establish a connection to any of the cluster's nodes");
            }
        };
    }

    /** Opens a connection to a server that answers. */
    Wire open(Place place, Server server) {
        Wire wire = new Wire(world, this, place, server);
        server.accept(wire);
        wires.add(wire);
        return wire;
    }

    /** Runs a script at a server, as far as the server has the slot of its keys. */
    long[] run(
            Place place,
            Server server,
            @Nullable String text,
            String sha,
            boolean asking,
            String[] keys,
            byte[][] arguments) {
        if (slots != null) {
            slots.check(server, keys, asking);
        }
        ScriptServer data = server.data();
        long[] reply;
        try {
            reply = text == null ? data.evalSha(sha, keys, arguments) : data.eval(text, keys, arguments);
        } catch (RuntimeException e) {
            refusedWrites += Seam.isOfWriting(e) ? 1 : 0;
            throw e;
        }
        world.note(() -> server + ": " + Asked.text(keys, arguments, reply));
        if (!isProbe(keys)) {
            books.ran(place, keys, arguments, reply);
        }
        return reply;
    }

    String clusterNodes(Server asked) {
        if (slots == null) {
            throw new IllegalStateException("not a cluster");
        }
        return slots.nodes(asked);
    }
}
