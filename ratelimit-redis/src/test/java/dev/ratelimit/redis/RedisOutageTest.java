package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three instances, each with a third of the limits while it decides alone. */
@Tag("servers")
class RedisOutageTest {

    private static final int INSTANCES = 3;
    private static final long PERMITS = 120;
    private static final Policy POLICY = Policy.of("p", TokenBucket.of(new Rate(PERMITS, Duration.ofSeconds(1))));
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final List<Charge> HOT = List.of(POLICY.charge("hot"));

    @Started
    private RedisServer server;

    private final List<RedisStore> stores = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < INSTANCES; i++) {
            stores.add(RedisStore.builder(server.newClient())
                    .deadline(Duration.ofSeconds(1))
                    .openFor(Duration.ofMillis(200))
                    .localShare(1.0 / INSTANCES)
                    .build());
        }
    }

    @AfterEach
    void close() {
        stores.forEach(RedisStore::close);
    }

    @Test
    @DisplayName("E22: during an outage three instances admit their shared limit, plus one budget at each transition")
    void decide_outage_admittedWithinBoundAndBothSeams() {
        long start = System.nanoTime();
        List<Load> loads =
                stores.stream().map(store -> Load.start(store, 2, HOT)).toList();
        await().until(() -> admitted(loads) > 2 * PERMITS);

        server.kill();
        await().until(() -> stores.stream().noneMatch(RedisStore::available));
        long alone = admitted(loads);
        await().atMost(PATIENCE).until(() -> admitted(loads) > alone + (Scene.LONG ? 60 : 2) * PERMITS);
        long restarted = System.nanoTime();
        server.restart();
        await().atMost(PATIENCE).until(() -> stores.stream().allMatch(RedisStore::available));
        double apart = (System.nanoTime() - restarted) / 1e9;
        long back = admitted(loads);
        await().until(() -> admitted(loads) > back + 2 * PERMITS);
        loads.forEach(Load::stop);
        double seconds = (System.nanoTime() - start) / 1e9;

        assertThat(loads).allSatisfy(load -> assertThat(load.failures()).isEmpty());
        // a full budget at first, by the instances alone, and by the server that has lost its keys; and while only some
        // of the instances have noticed its return, the server admits in addition to the others
        assertThat((double) admitted(loads))
                .isBetween(0.8 * PERMITS * seconds, 3 * PERMITS + PERMITS * (seconds + apart));
    }

    private static long admitted(List<Load> loads) {
        return loads.stream().mapToLong(load -> load.admitted(HOT)).sum();
    }
}
