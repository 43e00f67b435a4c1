package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster whose slots move, and whose nodes fail and return, under load. */
@Tag("slow")
class RedisClusterFaultTest {

    private static final int THREADS = 4;
    private static final long CAPACITY = 1_000_000;
    private static final Policy POLICY = Policy.of("p", TokenBucket.of(new Rate(CAPACITY, Duration.ofDays(1000))));

    @Started
    private static RedisCluster cluster;

    private static int stores;

    private final Map<StoreFailure.Reason, Integer> failures = new ConcurrentHashMap<>();
    private final String prefix = "test" + stores++;
    private RedisClusterClient client;
    private RedisStore store;

    @BeforeEach
    void start() {
        client = RedisClusterClient.create(cluster.uris());
        store = RedisStore.builder(client)
                .prefix(prefix)
                .deadline(Duration.ofSeconds(1))
                .openFor(Duration.ofMillis(200))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.LOCAL)
                .listener(new RemoteStoreListener() {
                    @Override
                    public void failed(StoreFailure.Reason reason) {
                        failures.merge(reason, 1, Integer::sum);
                    }
                })
                .build();
    }

    @AfterEach
    void close() {
        store.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
    }

    private String name(Charge charge) {
        return new KeyNames(prefix).name(charge.policy().name(), charge.key());
    }

    /** Charges whose keys are on this node. */
    private List<Charge> chargesOn(RedisServer node, int count) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> POLICY.charge("key" + i))
                .filter(charge -> cluster.masterOf(name(charge)) == node)
                .limit(count)
                .toList();
    }

    private long used(Charge charge) {
        return CAPACITY - store.peek(List.of(charge)).limits().get(0).remaining();
    }

    @Test
    @DisplayName("E16: moving slots under load costs no decision, and no permit is charged twice")
    void decide_slotsMove_allFromRedisAndCountedOnce() {
        List<RedisServer> nodes = cluster.nodes();
        List<Charge> charges = chargesOn(nodes.get(0), 3);
        connect(charges);
        try (Load load = Load.start(store, THREADS, charges)) {
            await().until(() -> load.admitted(charges) > 100);
            for (int round = 0; round < 2; round++) {
                for (Charge charge : charges) {
                    int slot = SlotHash.getSlot(name(charge));
                    RedisServer from = cluster.masterOf(name(charge));
                    RedisServer to = nodes.get((nodes.indexOf(from) + 1) % 3);
                    moveUnderLoad(load, charge, slot, from, to);
                }
            }
            load.stop();

            assertThat(load.failures()).isEmpty();
            assertThat(failures).isEmpty();
            for (Charge charge : charges) {
                assertThat(used(charge)).isEqualTo(load.admitted(List.of(charge)));
            }
        }
    }

    /** Connecting may take longer than a decision waits, and a local decision is then charged late as well. */
    private void connect(List<Charge> charges) {
        for (Charge charge : charges) {
            await().until(() -> {
                failures.clear();
                store.peek(List.of(charge));
                return failures.isEmpty();
            });
        }
    }

    /** Each step with decisions in between. */
    private void moveUnderLoad(Load load, Charge charge, int slot, RedisServer from, RedisServer to) {
        cluster.beginMove(slot, from, to);
        awaitDecisions(load, charge);
        cluster.moveKeys(slot, from, to);
        awaitDecisions(load, charge);
        cluster.endMove(slot, to);
        awaitDecisions(load, charge);
    }

    private static void awaitDecisions(Load load, Charge charge) {
        long before = load.asked(List.of(charge));
        await().atMost(Duration.ofSeconds(20)).until(() -> load.asked(List.of(charge)) > before + 10);
    }

    @Test
    @DisplayName("E17: while a master is down, only its own keys are decided locally")
    void decide_oneMasterDown_otherKeysFromRedis() {
        RedisServer down = cluster.nodes().get(1);
        List<Charge> its = chargesOn(down, 3);
        List<Charge> others = IntStream.of(0, 2)
                .mapToObj(i -> chargesOn(cluster.nodes().get(i), 3))
                .flatMap(List::stream)
                .toList();
        List<Charge> all = IntStream.range(0, 9)
                .mapToObj(i -> (i % 3 == 0 ? its : others).get(i / 3 + (i % 3 == 2 ? 3 : 0)))
                .toList();
        connect(all);
        try (Load load = Load.start(store, THREADS, all)) {
            await().until(() -> load.admitted(all) > 100);

            down.kill();
            await().until(() -> !store.available());
            long asked = load.asked(others);
            long alone = load.alone(its);
            await().atMost(Duration.ofSeconds(20)).until(() -> load.asked(others) > asked + 1500);
            assertThat(load.alone(its)).isGreaterThan(alone + 300);
            assertThat(load.alone(others)).isZero();

            down.restart();
            cluster.awaitReady();
            await().until(store::available);
            long before = load.alone(all);
            long from = load.asked(its);
            await().until(() -> load.asked(its) > from + 300);
            load.stop();

            assertThat(load.failures()).isEmpty();
            assertThat(load.alone(all) - before).isLessThanOrEqualTo(THREADS);
            assertThat(load.longestMillis()).isLessThan(1500);
        }
    }
}
