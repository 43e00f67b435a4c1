package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A master of a cluster that fails, and its replica that takes over. */
@Tag("slow")
class RedisClusterFailoverTest {

    private static final Policy POLICY = Policy.of("p", TokenBucket.of(new Rate(1_000_000, Duration.ofDays(1000))));

    @Started
    private RedisCluster cluster;

    private RedisServer master;
    private RedisClusterClient client;
    private RedisStore store;

    @BeforeEach
    void start() {
        master = cluster.nodes().get(0);
        cluster.addReplica(master);
        List<RedisURI> uris = cluster.uris();
        uris.forEach(uri -> uri.setTimeout(Duration.ofSeconds(1)));
        client = RedisClusterClient.create(uris);
        store = RedisStore.builder(client)
                .deadline(Duration.ofMillis(500))
                .openFor(Duration.ofMillis(200))
                .denyCache(Duration.ZERO)
                .build();
    }

    @AfterEach
    void close() {
        store.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
    }

    static Stream<Named<Consumer<RedisServer>>> faults() {
        return Stream.of(Named.of("killed", RedisServer::kill), Named.of("hangs", RedisServer::pause));
    }

    @ParameterizedTest
    @MethodSource("faults")
    @DisplayName("E15: a replica in a cluster takes over, and decides within 10 s")
    void decide_masterGone_replicaDecides(Consumer<RedisServer> fault) {
        List<Charge> its = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> POLICY.charge("key" + i))
                .filter(charge -> cluster.masterOf(new KeyNames("ratelimit").name("p", charge.key())) == master)
                .limit(2)
                .toList();
        try (Load load = Load.start(store, 4, its)) {
            await().until(() -> load.admitted(its) > 100 + load.alone(its));

            fault.accept(master);
            await().until(() -> !store.available());
            await().atMost(Duration.ofSeconds(10)).until(store::available);
            long alone = load.alone(its);
            long asked = load.asked(its);
            await().until(() -> load.asked(its) > asked + 100);
            load.stop();

            assertThat(load.failures()).isEmpty();
            assertThat(load.alone(its) - alone).isLessThanOrEqualTo(4);
        }
    }
}
