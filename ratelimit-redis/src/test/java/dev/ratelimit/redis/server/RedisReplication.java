package dev.ratelimit.redis.server;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

/** A master, its replica, and a sentinel that promotes the replica when the master has been silent for a second. */
public final class RedisReplication implements AutoCloseable {

    /** The name under which the sentinel knows the master. */
    public static final String MASTER_ID = "limits";

    private static final Duration PROMOTION = Duration.ofSeconds(60);

    private static final List<String> OPTIONS =
            List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0");

    private final List<RedisServer> servers = new ArrayList<>();

    private RedisReplication() {}

    /** Starts master and replica with additional options, and waits until a fail-over could succeed. */
    public static RedisReplication start(String... options) {
        RedisReplication replication = new RedisReplication();
        try {
            String[] all = Stream.concat(OPTIONS.stream(), Stream.of(options)).toArray(String[]::new);
            replication.launch(all);
            return replication;
        } catch (RuntimeException | Error e) {
            replication.close();
            throw e;
        }
    }

    /** The server that started as the master. */
    public RedisServer master() {
        return servers.get(0);
    }

    /** The server that started as the replica. */
    public RedisServer replica() {
        return servers.get(1);
    }

    /** The sentinel's process, to kill or to pause; it takes no commands on keys. */
    public RedisServer sentinel() {
        return servers.get(2);
    }

    /** Where clients ask for the master with this name; the sentinel knows {@link #MASTER_ID}. */
    public RedisURI sentinelUri(String masterId) {
        return RedisURI.Builder.sentinel("127.0.0.1", sentinel().port(), masterId)
                .build();
    }

    /**
     * Waits until the sentinel has promoted the replica. On a busy machine, that takes it several attempts: one fails if the
     * replica has not answered it for a second, and the next one follows after six.
     */
    public void awaitPromotion() {
        await().atMost(PROMOTION)
                .until(() -> askSentinel(sentinel -> (InetSocketAddress) sentinel.getMasterAddrByName(MASTER_ID))
                                .getPort()
                        == replica().port());
    }

    @Override
    public void close() {
        servers.forEach(RedisServer::close);
    }

    private void launch(String... options) {
        servers.add(RedisServer.start(options));
        String masterPort = Integer.toString(master().port());
        servers.add(
                RedisServer.start(Stream.concat(Stream.of(options), Stream.of("--replicaof", "127.0.0.1", masterPort))
                        .toArray(String[]::new)));
        // before the sentinel starts: it asks for replicas immediately, and then not for ten seconds
        awaitUntil(this::isInSync);
        servers.add(RedisServer.startWith(
                List.of(
                        "sentinel monitor " + MASTER_ID + " 127.0.0.1 " + masterPort + " 1",
                        "sentinel down-after-milliseconds " + MASTER_ID + " 1000",
                        "sentinel failover-timeout " + MASTER_ID + " 3000"),
                "--sentinel"));
        awaitUntil(this::sentinelKnowsReplica);
    }

    private boolean isInSync() {
        String replica = replica().ask(redis -> redis.info("replication"));
        String master = master().ask(redis -> redis.info("replication"));
        return replica.contains("master_link_status:up") && master.contains("state=online");
    }

    private boolean sentinelKnowsReplica() {
        List<Map<String, String>> replicas = askSentinel(sentinel -> sentinel.replicas(MASTER_ID));
        return replicas.size() == 1
                && "slave".equals(replicas.get(0).get("flags"))
                && "ok".equals(replicas.get(0).get("master-link-status"));
    }

    private <T> T askSentinel(Function<RedisSentinelCommands<String, String>, T> question) {
        RedisClient client = RedisClient.create(sentinelUri(MASTER_ID));
        try (StatefulRedisSentinelConnection<String, String> connection = client.connectSentinel()) {
            return question.apply(connection.sync());
        } finally {
            client.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }

    private static void awaitUntil(Callable<Boolean> condition) {
        await().atMost(RedisServer.PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }
}
