package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.remote.Inside;
import dev.ratelimit.remote.Operation;
import dev.ratelimit.remote.RemoteStoreFailure;
import dev.ratelimit.remote.Request;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How answers with the servers of slots are handled. */
@Tag("servers")
class RouterTest {

    /** A cluster whose slots a test moves; all its servers are the same one. */
    private static final class Moving implements Topology {

        private final RedisClient client;
        private final Queue<Connection> toFirst = new ConcurrentLinkedQueue<>();
        private final AtomicInteger attempts = new AtomicInteger();
        private volatile String master = "first:1";
        private final Set<String> asked = ConcurrentHashMap.newKeySet();
        private volatile boolean firstStays;
        private volatile Predicate<String> learns = nodes -> true;

        Moving(RedisClient client) {
            this.client = client;
        }

        @Override
        public Connection connect(String server) {
            if (server.equals("down:1")) {
                throw new RedisException("down");
            }
            if (server.equals(ANY)) {
                attempts.incrementAndGet();
            }
            Connection connection = new LettuceConnection(server, client.connect(LettuceConnection.CODEC));
            if (server.equals("first:1")) {
                toFirst.add(connection);
            }
            return connection;
        }

        @Override
        public boolean isCluster() {
            return true;
        }

        @Override
        public int slot(String name) {
            return 0;
        }

        @Override
        public String server(int slot) {
            return master;
        }

        @Override
        public Set<String> servers() {
            return Set.of(master);
        }

        @Override
        public boolean has(String server) {
            return server.equals(ANY) || server.equals(master) || firstStays;
        }

        @Override
        public String title(String server) {
            return server;
        }

        @Override
        public boolean learn(String server, String nodes) {
            asked.add(server);
            return learns.test(nodes);
        }
    }

    private final RedisServer server = RedisServer.start("--cluster-enabled", "yes");
    private final RedisClient client = RedisClient.create(server.uri());
    private final Moving topology = new Moving(client);
    private final RedisStoreBuilder builder = new RedisStoreBuilder(settings -> topology).failures(1);
    private Router servers = servers();

    private Router servers() {
        return new Router(topology, new KeyNames("test"), builder.settings());
    }

    @AfterEach
    void close() {
        servers.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
        server.close();
    }

    private Request send() {
        return Inside.post(servers, builder.settings().remote(), List.of(Scene.WIDE.charge("k")), Operation.PEEK)
                .get(0);
    }

    /** Makes it query the slots, as after a fail-over: the server that it knows does not exist. */
    private void failOver() {
        topology.master = "down:1";
        Scene.awaitUntil(() -> {
            send();
            return !servers.available();
        });
        send();
    }

    private void awaitAnotherAttempt() {
        Scene.awaitUntil(() -> {
            send();
            return topology.attempts.get() > 1;
        });
    }

    @Test
    void refresh_answerIsMalformed_asksAnotherServer() {
        topology.learns = nodes -> {
            throw new RedisException("Cannot parse " + nodes);
        };

        failOver();

        awaitAnotherAttempt();
    }

    @Test
    void refresh_answerWithoutSlots_asksAnotherServer() {
        topology.learns = nodes -> false;

        failOver();

        awaitAnotherAttempt();
    }

    @Test
    void refresh_serverHasLeft_closesItsConnections() {
        send();
        Scene.awaitUntil(() -> !topology.toFirst.isEmpty());

        failOver();

        Scene.awaitUntil(() -> {
            send();
            return topology.toFirst.stream().noneMatch(Connection::isOpen);
        });
    }

    @Test
    void refresh_failingServerKeepsItsSlots_asksAnotherServer() {
        builder.failures(20);
        servers = servers();
        topology.firstStays = true;
        send();
        Scene.awaitUntil(() -> !topology.toFirst.isEmpty());
        topology.master = "down:1";

        Scene.awaitUntil(() -> {
            send();
            return topology.asked.size() == 2;
        });
        assertThat(topology.asked).containsExactlyInAnyOrder(Topology.ANY, "first:1");
    }

    @Test
    void send_onlyFailure_asksForTheSlotsBeforeTheBreakerOpens() {
        builder.failures(20);
        servers = servers();
        topology.master = "down:1";

        send();

        Scene.awaitUntil(() -> !topology.asked.isEmpty());
        assertThat(servers.available()).isTrue();
    }

    @Test
    void warmUp_noAnswer_leavesItsPlace() {
        builder.failures(20).maxInFlight(1);
        servers = servers();
        RedisStore store = new RedisStore(servers, builder.settings().remote());
        store.warmUp(Scene.WIDE.charge("k"), Duration.ofSeconds(20));
        server.pause();
        try {
            store.warmUp(Scene.WIDE.charge("k"), Duration.ofMillis(100));

            Scene.awaitUntil(() -> failure() == RemoteStoreFailure.TIMEOUT);
        } finally {
            server.resume();
        }
    }

    private StoreFailure.Reason failure() {
        Request sent = send();
        return catchThrowableOfType(StoreFailure.class, () -> Inside.await(sent, 20_000_000))
                .reason();
    }
}
