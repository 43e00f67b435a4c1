package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.OperatorLog;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.Servers;
import dev.ratelimit.remote.Stamp;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.remote.Timeout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Finds the server of each key, and sends each server its part of the charges. Thread-safe; does not block. */
final class Router implements ScriptExecutor.Servers, Servers {

    private static final int MAX_POLICIES = 10_000;

    /** The minimum time between two requests for the slots, and the maximum wait for an answer. */
    private static final long REFRESH_NANOS = 1_000_000_000;

    /** The maximum time to wait until connections are closed. */
    private static final long MAX_CLOSE_NANOS = 500_000_000;

    /** What a probe charges; whether it is admitted does not matter. */
    private static final Policy PROBE = Policy.of("probe", TokenBucket.of(Rate.parse("1000/second")));

    /** How many names a probe tries to find a key of its server; any other server's redirect says that it is well. */
    private static final int MAX_LOOKS = 10_000;

    private final Topology topology;
    private final KeyNames names;
    private final ServerSettings settings;
    private final OperatorLog operatorLog;
    private final EvictionCheck evictionCheck;
    private final ScriptExecutor executor;
    private final Map<String, Node> nodes = new ConcurrentHashMap<>();
    private final Map<Policy, List<RedisLimit>> limits = new ConcurrentHashMap<>();
    private final AtomicLong refreshAt;
    private final AtomicInteger refreshes = new AtomicInteger();

    private volatile boolean closed;

    /** Creates the servers of this topology. */
    Router(Topology topology, KeyNames names, ServerSettings settings) {
        this.topology = topology;
        this.names = names;
        this.settings = settings;
        this.operatorLog = new OperatorLog(settings.remote());
        this.evictionCheck = new EvictionCheck(topology);
        this.executor = new ScriptExecutor(settings, this);
        this.refreshAt = new AtomicLong(settings.remote().ticker().nanos());
    }

    /** Sends the charges, in one script per slot. */
    @Override
    public void send(List<Charge> charges, Operation operation, Stamp stamp, List<Request> owner) {
        for (Batch batch : batches(charges, stamp.id())) {
            Node node = node(topology.server(batch.slot()));
            if (!node.available()) {
                // another one may have taken over
                refresh(node);
            }
            Request sent = node.send(batch, operation, stamp.micros(), owner);
            sent.whenFailed(failure -> {
                if (failure.reason().ofConnection()) {
                    // if requests are rare, nobody waits for the breaker to open
                    refresh(node);
                }
            });
        }
    }

    @Override
    public boolean reaches(Charge charge) {
        String name = names.name(charge.policy().name(), charge.key());
        return node(topology.server(topology.slot(name))).available();
    }

    private Node node(String server) {
        Node known = nodes.get(server);
        return known != null ? known : nodes.computeIfAbsent(server, this::newNode);
    }

    private Node newNode(String server) {
        Node node = new Node(topology, server, executor, settings, operatorLog, evictionCheck);
        if (closed) {
            node.close();
        }
        return node;
    }

    private List<Batch> batches(List<Charge> charges, long id) {
        List<Batch> batches = new ArrayList<>(1);
        for (Charge charge : charges) {
            String name = names.name(charge.policy().name(), charge.key());
            batch(batches, topology.slot(name), id).add(charge, limits(charge.policy()), name);
        }
        return batches;
    }

    private static Batch batch(List<Batch> batches, int slot, long id) {
        for (Batch batch : batches) {
            if (batch.slot() == slot) {
                return batch;
            }
        }
        Batch batch = new Batch(slot, id);
        batches.add(batch);
        return batch;
    }

    private List<RedisLimit> limits(Policy policy) {
        List<RedisLimit> known = limits.get(policy);
        if (known == null) {
            if (limits.size() >= MAX_POLICIES) {
                limits.clear();
            }
            known = policy.limits().stream().map(RedisLimits::of).toList();
            limits.put(policy, known);
        }
        return known;
    }

    @Override
    public Batch probe(Node node) {
        String server = node.link().server();
        String name = names.probe(0);
        for (int i = 1; i < MAX_LOOKS && !topology.server(topology.slot(name)).equals(server); i++) {
            name = names.probe(i);
        }
        Batch batch = new Batch(topology.slot(name), 0);
        batch.add(PROBE.charge(), limits(PROBE), name);
        return batch;
    }

    @Override
    public void failing(Node node) {
        refresh(node);
    }

    @Override
    public Node elsewhere(Redirect redirect) {
        if (!topology.isCluster()) {
            throw new StoreFailure(
                    RedisStoreFailure.CLUSTER, "the server is a cluster node and must be configured as a cluster");
        }
        Node node = node(redirect.server());
        if (!redirect.asking()) {
            refresh(null);
        }
        return node;
    }

    /**
     * In a cluster, asks a server other than the failing one for the slots, unless that was done a moment ago.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the next failure asks again
    private void refresh(@Nullable Node failing) {
        if (!topology.isCluster()) {
            return;
        }
        long due = refreshAt.get();
        long now = settings.remote().ticker().nanos();
        if (now - due < 0 || !refreshAt.compareAndSet(due, now + REFRESH_NANOS) || closed) {
            return;
        }
        Link asked = informant(failing).link();
        CompletableFuture<Boolean> answer = asked.live()
                .thenCompose(connection ->
                        connection.clusterNodes().thenApply(slots -> topology.learn(connection.server(), slots)));
        Timeout.set(answer, REFRESH_NANOS, settings.remote().scheduler());
        answer.whenComplete((learned, failure) -> {
            if (failure == null && learned) {
                prune();
            } else {
                asked.replace();
            }
        });
    }

    /**
     * Asks another server each time, one that is not known to fail: a server may not know yet which one has taken over.
     */
    private Node informant(@Nullable Node failing) {
        Node any = node(Topology.ANY);
        List<Node> well = nodes.values().stream()
                .filter(node -> node != failing && node.available())
                .toList();
        return well.isEmpty() ? any : well.get(Math.floorMod(refreshes.getAndIncrement(), well.size()));
    }

    /** Closes the links to servers that have left the cluster. */
    private void prune() {
        nodes.entrySet().removeIf(entry -> {
            boolean left = !topology.has(entry.getKey());
            if (left) {
                entry.getValue().close();
            }
            return left;
        });
    }

    /**
     * Connects to all servers.
     *
     * @param end when to wait no longer
     * @return whether one has been reached
     */
    @SuppressWarnings("FutureReturnValueIgnored") // each is awaited afterwards
    boolean connected(long end) {
        if (!reached(Topology.ANY, end)) {
            return false;
        }
        topology.servers().forEach(server -> node(server).link().live());
        topology.servers().forEach(server -> reached(server, end));
        return true;
    }

    private boolean reached(String server, long end) {
        Node node = node(server);
        CompletableFuture<Connection> live = node.link().live();
        try {
            // it may only be slow: requests will find out
            boolean known = Timeout.await(
                    live,
                    end - settings.remote().ticker().nanos(),
                    settings.remote().scheduler());
            if (known) {
                live.join();
            }
            return known;
        } catch (CompletionException | StoreFailure e) {
            node.health().unreached(LettuceFailure.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** Whether no server is known to fail, not counting servers whose slots another one has taken over. */
    @Override
    public boolean available() {
        var names = topology.servers().isEmpty() ? nodes.keySet() : topology.servers();
        return names.stream().map(nodes::get).filter(Objects::nonNull).allMatch(Node::available);
    }

    /** Closes all connections. */
    @Override
    public void close() {
        closed = true;
        operatorLog.close();
        CompletableFuture<?>[] closing = nodes.values().stream()
                .map(node -> node.close().toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        try {
            // the client closes the rest
            Timeout.await(
                    CompletableFuture.allOf(closing),
                    MAX_CLOSE_NANOS,
                    settings.remote().scheduler());
        } catch (StoreFailure e) {
            // nothing else follows
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
