package dev.ratelimit.redis;

import dev.ratelimit.redis.Letter.Way;
import dev.ratelimit.remote.Combiner;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.OperatorLog;
import dev.ratelimit.remote.RemoteStoreSettings;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.Server;
import dev.ratelimit.remote.Stamp;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A server of Redis with its link and its clock, and what judges it. Thread-safe. */
final class Node implements Server.Access {

    /** Combines charges to a slot over a connection. */
    private record Line(Connection connection, Combiner<Batch, Reply> combiner) {}

    private final Topology topology;
    private final ScriptExecutor executor;
    private final RemoteStoreSettings settings;
    private final EvictionCheck evictionCheck;
    private final ServerClock clock;
    private final Server health;
    private final Link link;

    /** The latest of each slot. */
    private final Map<Integer, Line> lines = new ConcurrentHashMap<>();

    /** Creates a server that is assumed to be healthy. */
    Node(
            Topology topology,
            String server,
            ScriptExecutor executor,
            ServerSettings settings,
            OperatorLog operatorLog,
            EvictionCheck evictionCheck) {
        this.topology = topology;
        this.executor = executor;
        this.settings = settings.remote();
        this.evictionCheck = evictionCheck;
        this.clock = new ServerClock(this.settings.ticker(), this.settings.deadlineNanos());
        this.health = new Server(this, this.settings, operatorLog);
        this.link = new Link(topology, server, this::opened, this.settings.scheduler(), settings.threads());
    }

    private void opened(Connection live) {
        // those of slots that are not used any more would keep former connections in memory
        lines.clear();
        evictionCheck.connected(live);
        health.connected();
    }

    boolean available() {
        return health.available();
    }

    Server health() {
        return health;
    }

    Link link() {
        return link;
    }

    ServerClock clock() {
        return clock;
    }

    /** Closes the link, and opens no other. */
    CompletionStage<?> close() {
        health.close();
        return link.close();
    }

    /** Combines charges to this slot over the current connection. */
    Combiner<Batch, Reply> combiner(Connection connection, int slot) {
        Line known = lines.get(slot);
        if (known == null || known.connection != connection) {
            known = lines.compute(
                    slot,
                    (same, latest) -> latest != null && latest.connection == connection ? latest : line(connection));
        }
        return known.combiner;
    }

    private Line line(Connection connection) {
        Way way = new Way(connection, clock, false);
        return new Line(connection, new Combiner<>((batches, areWanted) -> executor.charge(way, batches, areWanted)));
    }

    /**
     * Sends a batch that the caller awaits until the deadline, unless the server is known to fail.
     *
     * @param atMicros for a refund, the time of the charge
     * @param owner gets the request before it takes a place and charges anything: a thread may fail on any line afterwards
     */
    @SuppressWarnings("FutureReturnValueIgnored") // a request handles its own failures
    Request send(Batch batch, Operation operation, long atMicros, List<Request> owner) {
        Request sent = new Request(batch.charges(), operation, new Stamp(atMicros, batch.id()), settings);
        owner.add(sent);
        try {
            executor.run(sent, batch, this, operation).whenComplete((reply, failure) -> arrived(sent, reply, failure));
        } catch (RuntimeException | Error e) {
            // nobody will tell it about a reply
            arrived(sent, null, e);
        }
        return sent;
    }

    private static void arrived(Request sent, @Nullable Reply reply, @Nullable Throwable thrown) {
        Throwable failure = thrown;
        try {
            failure = thrown == null ? null : LettuceFailure.of(thrown);
        } finally {
            sent.arrived(reply, failure);
        }
    }

    @Override
    public String title() {
        return topology.title(link.server());
    }

    @Override
    public CompletableFuture<?> probe() {
        return executor.probe(this);
    }

    @Override
    public void reconnect() {
        link.replace();
    }

    @Override
    public void lookElsewhere() {
        executor.failing(this);
    }
}
