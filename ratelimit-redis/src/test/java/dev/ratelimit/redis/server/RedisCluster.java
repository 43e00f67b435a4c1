package dev.ratelimit.redis.server;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A Redis Cluster of three masters without replicas on loopback, each with a third of the slots. */
public final class RedisCluster implements AutoCloseable {

    private static final List<String> OPTIONS = List.of(
            "--cluster-enabled",
            "yes",
            "--cluster-announce-ip",
            "127.0.0.1",
            "--cluster-node-timeout",
            "2000",
            "--cluster-require-full-coverage",
            "no");
    private static final int[] FIRST_SLOTS = {0, 5461, 10923, SlotHash.SLOT_COUNT};
    private static final int KEYS_AT_ONCE = 100;
    private static final long MIGRATE_TIMEOUT_MILLIS = 5_000;

    private final List<RedisServer> nodes = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();
    private final List<RedisClusterClient> clients = new ArrayList<>();
    private final AtomicReferenceArray<RedisServer> masters = new AtomicReferenceArray<>(SlotHash.SLOT_COUNT);

    private RedisCluster() {}

    /** Starts the nodes with additional options, and waits until each of them serves all of the cluster. */
    public static RedisCluster start(String... options) {
        RedisCluster cluster = new RedisCluster();
        try {
            String[] all = Stream.concat(OPTIONS.stream(), Stream.of(options)).toArray(String[]::new);
            for (int i = 0; i < 3; i++) {
                cluster.addNode(RedisServer.start(all), FIRST_SLOTS[i], FIRST_SLOTS[i + 1]);
            }
            cluster.introduce();
            cluster.awaitReady();
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /** The three servers, in the order of the slots that they had at the start. */
    public List<RedisServer> nodes() {
        return List.copyOf(nodes);
    }

    /** The nodes that clients start with: all three. */
    public List<RedisURI> uris() {
        return nodes.stream().map(RedisServer::uri).toList();
    }

    /** A client of the cluster, which lasts as long. */
    public RedisClusterClient newClient() {
        RedisClusterClient client = RedisClusterClient.create(uris());
        clients.add(client);
        return client;
    }

    /** The server that has the slot of this key; while the slot moves, the one that it moves from. */
    public RedisServer masterOf(String key) {
        return masters.get(SlotHash.getSlot(key));
    }

    /** Moves a slot with its keys, all three steps. */
    public void moveSlot(int slot, RedisServer from, RedisServer to) {
        beginMove(slot, from, to);
        moveKeys(slot, from, to);
        endMove(slot, to);
    }

    /** The first step of a move: from now on, {@code from} answers ASK for missing keys of the slot. */
    public void beginMove(int slot, RedisServer from, RedisServer to) {
        to.ask(redis -> redis.clusterSetSlotImporting(slot, id(from)));
        from.ask(redis -> redis.clusterSetSlotMigrating(slot, id(to)));
    }

    /** The second step: moves the existing keys, and returns their number. */
    public int moveKeys(int slot, RedisServer from, RedisServer to) {
        return from.ask(redis -> {
            int moved = 0;
            List<String> keys = redis.clusterGetKeysInSlot(slot, KEYS_AT_ONCE);
            while (!keys.isEmpty()) {
                redis.migrate("127.0.0.1", to.port(), 0, MIGRATE_TIMEOUT_MILLIS, MigrateArgs.Builder.keys(keys));
                moved += keys.size();
                keys = redis.clusterGetKeysInSlot(slot, KEYS_AT_ONCE);
            }
            return moved;
        });
    }

    /** The last step: all nodes redirect clients to {@code to}. Fails while the old master has keys of the slot. */
    public void endMove(int slot, RedisServer to) {
        String id = id(to);
        // the new master first: if the old one forgot the slot earlier, they could redirect a client back and forth
        to.ask(redis -> redis.clusterSetSlotNode(slot, id));
        for (RedisServer node : nodes) {
            if (node != to) {
                node.ask(redis -> redis.clusterSetSlotNode(slot, id));
            }
        }
        masters.set(slot, to);
    }

    /** Adds a replica of this master, which takes over when the other masters miss it; waits until it is able to. */
    public RedisServer addReplica(RedisServer master) {
        RedisServer replica = RedisServer.start(Stream.concat(
                        OPTIONS.stream(), Stream.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"))
                .toArray(String[]::new));
        replicas.add(replica);
        for (RedisServer node : nodes) {
            replica.ask(redis -> redis.clusterMeet("127.0.0.1", node.port()));
        }
        String id = id(master);
        await().atMost(RedisServer.PATIENCE)
                .ignoreExceptions()
                .until(() -> replica.ask(redis -> redis.clusterReplicate(id)).equals("OK"));
        await().atMost(RedisServer.PATIENCE)
                .until(() -> replica.ask(redis -> redis.info("replication")).contains("master_link_status:up")
                        && nodes.stream()
                                .allMatch(node -> node.ask(redis -> redis.clusterReplicas(id))
                                                .size()
                                        == 1));
        return replica;
    }

    /**
     * Waits until each node serves, and sees the others and all slots served, for example after the restart of a node.
     */
    public void awaitReady() {
        await().atMost(RedisServer.PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> nodes.stream().allMatch(RedisCluster::isReady));
    }

    @Override
    public void close() {
        clients.forEach(client -> client.shutdown(Duration.ZERO, Duration.ZERO));
        nodes.forEach(RedisServer::close);
        replicas.forEach(RedisServer::close);
    }

    private void addNode(RedisServer node, int firstSlot, int endSlot) {
        nodes.add(node);
        int epoch = nodes.size();
        int[] slots = IntStream.range(firstSlot, endSlot).toArray();
        node.ask(redis -> redis.clusterAddSlots(slots) + redis.clusterSetConfigEpoch(epoch));
        for (int slot : slots) {
            masters.set(slot, node);
        }
    }

    private void introduce() {
        for (RedisServer node : nodes) {
            for (RedisServer other : nodes.subList(0, nodes.indexOf(node))) {
                node.ask(redis -> redis.clusterMeet("127.0.0.1", other.port()));
            }
        }
    }

    private static String id(RedisServer node) {
        return node.ask(redis -> redis.clusterMyId());
    }

    private static boolean isReady(RedisServer node) {
        return node.ask(redis -> {
            String info = redis.clusterInfo();
            String nodes = redis.clusterNodes();
            return Stream.of("cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:3", "cluster_size:3")
                            .allMatch(info::contains)
                    && Stream.of("handshake", "disconnected", "fail").noneMatch(nodes::contains);
        });
    }
}
