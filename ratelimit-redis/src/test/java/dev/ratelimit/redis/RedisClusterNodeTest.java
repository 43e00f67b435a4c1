package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.remote.RemoteStoreFailure;
import io.lettuce.core.KillArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A failure of one node of a cluster does not affect the others. */
@SuppressWarnings("NullAway.Init") // each test starts the store
@Tag("slow")
class RedisClusterNodeTest {

    private static final Pattern ID = Pattern.compile("id=(\\d+) .* name=limits ");
    private static final Limit WIDE = TokenBucket.of(Rate.of(1_000_000, Duration.ofDays(10_000)));
    private static final Policy POLICY = Policy.of("p", WIDE);
    private static final Policy DENIED = Policy.of("denied", WIDE);

    @Started
    private static RedisCluster cluster;

    private final Events events = new Events();
    private RedisClusterClient client;
    private RedisStore store;

    @AfterEach
    void close() {
        store.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
        events.close();
    }

    private void start(UnaryOperator<RedisStoreBuilder> settings) {
        var uris = cluster.uris();
        uris.forEach(uri -> uri.setClientName("limits"));
        client = RedisClusterClient.create(uris);
        store = settings.apply(RedisStore.builder(client)
                        .deadline(Duration.ofSeconds(1))
                        .openFor(Duration.ofMillis(200))
                        .denyCache(Duration.ZERO)
                        .onStoreFailure("denied", OnStoreFailure.DENY)
                        .listener(events))
                .build();
        IntStream.range(0, 3).forEach(node -> Scene.awaitUntil(() -> byRedis(on(node, POLICY))));
    }

    /** One permit of a key that is on this node. */
    private static Charge on(int node, Policy policy) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> policy.charge("key" + i))
                .filter(charge -> cluster.masterOf(new KeyNames("ratelimit").name(policy.name(), charge.key()))
                        == cluster.nodes().get(node))
                .findFirst()
                .orElseThrow();
    }

    private boolean byRedis(Charge charge) {
        return Scene.byRedis(store.decide(List.of(charge)));
    }

    /** The connections that the store has to this node. */
    private static Set<String> connections(RedisServer node) {
        return ID.matcher(node.ask(redis -> redis.clientList()))
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toSet());
    }

    @Test
    @DisplayName("E17: a hanging node does not disable a healthy one that refunds in the meantime")
    void giveBack_otherNodeHangs_saysNothingOfThisOne() {
        start(settings -> settings.failures(5).deadline(Duration.ofMillis(300)).openFor(Duration.ofMinutes(1)));
        int changes = events.changes();
        cluster.nodes().get(1).pause();
        try {
            for (int i = 0; i < 12; i++) {
                assertThatExceptionOfType(StoreUnavailableException.class)
                        .isThrownBy(() -> store.decide(List.of(on(0, POLICY), on(1, DENIED))));
                assertThat(byRedis(on(0, POLICY))).isTrue();
            }

            assertThat(events.changes() - changes).isEqualTo(1);
        } finally {
            cluster.nodes().get(1).resume();
        }
    }

    @Test
    @DisplayName("E17: a node that redirects to a hanging one is not judged for it")
    void decide_sentOnToNodeThatHangs_saysNothingOfTheSender() {
        start(settings -> settings.failures(1).deadline(Duration.ofMillis(300)).openFor(Duration.ofMinutes(1)));
        RedisServer hangs = cluster.nodes().get(1);
        Charge moved = on(0, DENIED);
        int slot =
                SlotHash.getSlot(new KeyNames("ratelimit").name(moved.policy().name(), moved.key()));
        cluster.beginMove(slot, cluster.nodes().get(0), hangs);
        hangs.pause();
        try {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.decide(List.of(moved)));
            assertThat(events.failures(RemoteStoreFailure.TIMEOUT)).isEqualTo(1);
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.decide(List.of(moved)));
            assertThat(events.failures(RemoteStoreFailure.OPEN)).isEqualTo(1);

            assertThat(byRedis(on(0, POLICY))).isTrue();
            assertThat(events.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("Redis at 127.0.0.1:" + hangs.port() + " is unavailable (timeout: ");
        } finally {
            hangs.resume();
            cluster.endMove(slot, hangs);
        }
    }

    @Test
    @DisplayName("E17: while a node hangs, its keys admit their limit at most once more")
    void decide_nodeHangsNowAndThen_boundHolds() {
        start(settings -> settings.deadline(Duration.ofMillis(200)));
        Charge charge = on(1, Policy.of("hundred", TokenBucket.of(Rate.of(100, Duration.ofDays(1000)))));
        int admitted = 0;
        for (int round = 0; round < 4; round++) {
            cluster.nodes().get(1).pause();
            try {
                for (int i = 0; i < 60; i++) {
                    admitted += store.decide(List.of(charge, on(0, POLICY))).admitted() ? 1 : 0;
                }
            } finally {
                cluster.nodes().get(1).resume();
            }
            Scene.awaitUntil(() -> byRedis(on(1, POLICY)) && store.available());
            for (int i = 0; i < 30; i++) {
                admitted += store.decide(List.of(charge, on(0, POLICY))).admitted() ? 1 : 0;
            }
        }

        assertThat(admitted).isBetween(100, 200);
    }

    @Test
    @DisplayName("a connection that one node closes is replaced, and the others stay")
    void nodeClosesConnection_isMadeAnewAndOthersStay() {
        start(settings -> settings);
        int changes = events.changes();
        Set<String> before = connections(cluster.nodes().get(0));
        for (int round = 0; round < 3; round++) {
            cluster.nodes()
                    .get(1)
                    .ask(redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme(true)));
            int here = 0;
            for (int i = 0; i < 20; i++) {
                here += byRedis(on(1, POLICY)) ? 0 : 1;
            }
            assertThat(here).isLessThanOrEqualTo(1);
        }

        assertThat(events.changes()).isEqualTo(changes);
        assertThat(connections(cluster.nodes().get(0))).containsAll(before);
    }

    @Test
    @DisplayName("E17: a node that is down costs one warning, which names it, and no connection to the others")
    void nodeIsDown_othersKeepTheirConnections() {
        start(settings -> settings.openFor(Duration.ofMillis(50)));
        RedisServer down = cluster.nodes().get(2);
        Set<String> before = connections(cluster.nodes().get(0));
        int warnings = events.warnings().size();
        int failures = events.failures(RemoteStoreFailure.CONNECTION);
        down.kill();
        try {
            Scene.awaitUntil(() -> {
                store.decide(List.of(on(2, POLICY)));
                // some probes
                return events.failures(RemoteStoreFailure.CONNECTION) > failures + 13;
            });

            assertThat(events.warnings().subList(warnings, events.warnings().size()))
                    .singleElement()
                    .asString()
                    .startsWith("Redis at 127.0.0.1:" + down.port() + " is unavailable (connection: ");
            // except the query for slots, which may have been sent to the failed node
            assertThat(connections(cluster.nodes().get(0)))
                    .containsAll(before)
                    .hasSizeLessThanOrEqualTo(before.size() + 1);
            assertThat(byRedis(on(0, POLICY))).isTrue();
        } finally {
            down.restart();
            cluster.awaitReady();
            Scene.awaitUntil(() -> byRedis(on(2, POLICY)));
        }
    }

    @Test
    @DisplayName("E11: a single node of a cluster that may evict keys causes a warning")
    void eviction_allowedOnOneNode_isWarnedOf() {
        RedisServer node = cluster.nodes().get(1);
        node.ask(redis -> redis.configSet("maxmemory", "1gb") + redis.configSet("maxmemory-policy", "allkeys-lru"));
        try {
            start(settings -> settings);

            Scene.awaitUntil(() -> events.warnings().stream()
                    .anyMatch(warning -> warning.startsWith("Redis at 127.0.0.1:" + node.port() + " evicts keys")));
        } finally {
            node.ask(redis -> redis.configSet("maxmemory", "0") + redis.configSet("maxmemory-policy", "noeviction"));
        }
    }

    @Test
    @DisplayName("the answer of a node without slots, which has left the cluster, is ignored")
    void learn_answerWithoutSlots_keepsWhatIsKnown() {
        start(settings -> settings);
        Cluster topology = new Cluster(new LettuceClusterConnector(client), Ticker.system(), new Random(1));
        topology.connect(Topology.ANY).close();
        Set<String> masters = topology.servers();

        assertThat(topology.learn(
                        Topology.ANY,
                        "07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:7@17 myself,master - 0 0 4 connected\n"))
                .isFalse();

        assertThat(topology.servers()).hasSize(3).isEqualTo(masters);
        assertThat(topology.learn(Topology.ANY, cluster.nodes().get(0).ask(redis -> redis.clusterNodes())))
                .isTrue();
        assertThat(topology.servers()).isEqualTo(masters);
    }

    @Test
    void connect_any_isAnotherServerEachTime() {
        start(settings -> settings);
        Cluster topology = new Cluster(new LettuceClusterConnector(client), Ticker.system(), new Random(1));

        assertThat(IntStream.range(0, 3).mapToObj(i -> {
                    topology.connect(Topology.ANY).close();
                    return topology.title(Topology.ANY);
                }))
                .doesNotHaveDuplicates();
    }
}
