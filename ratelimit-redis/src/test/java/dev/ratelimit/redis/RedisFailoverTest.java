package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisReplication;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A master that fails, and a sentinel that promotes its replica. */
@Tag("slow")
class RedisFailoverTest {

    private static final long CAPACITY = 20;
    private static final long MANY = 1_000_000;
    private static final Charge SMALL = Policy.of("small", TokenBucket.of(new Rate(CAPACITY, Duration.ofDays(1))))
            .charge("k");
    private static final Charge LARGE = Policy.of("large", TokenBucket.of(new Rate(MANY, Duration.ofDays(1000))))
            .charge("k");

    @Started
    private RedisReplication replication;

    private final Events events = new Events();
    private RedisClient client;
    private RedisStore store;

    @BeforeEach
    void start() {
        client = RedisClient.create(replication.sentinelUri(RedisReplication.MASTER_ID));
        store = RedisStore.builder(client)
                .deadline(Duration.ofMillis(500))
                .openFor(Duration.ofMillis(200))
                .denyCache(Duration.ZERO)
                .onStoreFailure(OnStoreFailure.DENY)
                .listener(events)
                .build();
    }

    @AfterEach
    void close() {
        events.close();
        store.close();
        client.shutdown(Duration.ZERO, Duration.ZERO);
    }

    static Stream<Named<Consumer<RedisServer>>> faults() {
        return Stream.of(Named.of("killed", RedisServer::kill), Named.of("hangs", RedisServer::pause));
    }

    @ParameterizedTest
    @MethodSource("faults")
    @DisplayName(
            "E15: after a fail-over the new master decides within 10 s, and no key gets more than one additional budget")
    void decide_masterGone_newMasterDecides(Consumer<RedisServer> fault) {
        try (Load load = Load.start(store, 4, List.of(SMALL, LARGE))) {
            await().ignoreExceptions().until(() -> !store.decide(List.of(SMALL)).admitted());

            fault.accept(replication.master());
            await().until(() -> !store.available());
            replication.awaitPromotion();
            long before = load.admitted(List.of(LARGE));
            await().atMost(Duration.ofSeconds(10)).until(() -> load.admitted(List.of(LARGE)) > before + 20);
            load.stop();

            assertThat(events.warnings().get(0))
                    .startsWith("Redis at 127.0.0.1:" + replication.master().port() + " is unavailable");
            assertThat(load.admitted(List.of(SMALL))).isLessThanOrEqualTo(2 * CAPACITY);
            assertThat(load.failures()).hasOnlyElementsOfType(StoreUnavailableException.class);
            assertThat(load.longestMillis()).isLessThan(1500);
            long there = MANY - store.peek(List.of(LARGE)).limits().get(0).remaining();
            assertThat(there).isBetween(1L, load.asked(List.of(LARGE)));
        }
    }
}
