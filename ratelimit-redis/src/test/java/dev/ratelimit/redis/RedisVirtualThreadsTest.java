package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charge;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.PinnedThreads;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Decisions of a server, awaited on virtual threads. */
@EnabledForJreRange(min = JRE.JAVA_21)
@Tag("servers")
class RedisVirtualThreadsTest {

    private static final int CAPACITY = 300;

    /** The sources are compiled for Java 17, which has no virtual threads. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    /** Fewer at a time than the store lets wait for a server; the excess would be decided without it. */
    private static int admitted(RedisStore store, Charge charge) throws Exception {
        ExecutorService threads = virtualThreads();
        Callable<Integer> ask = () -> {
            int admitted = 0;
            for (int i = 0; i < 5; i++) {
                admitted += store.decide(List.of(charge)).admitted() ? 1 : 0;
            }
            return admitted;
        };
        int admitted = 0;
        for (Future<Integer> asked : threads.invokeAll(Collections.nCopies(200, ask))) {
            admitted += asked.get();
        }
        threads.shutdown();
        assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        return admitted;
    }

    @Test
    @DisplayName("H8 B5 200 virtual threads wait for a server: the capacity is admitted, and no carrier is pinned")
    void decide_virtualThreads_admitTheCapacityAndPinNone() throws Exception {
        Policy policy = Policy.of("p", TokenBucket.of(Rate.of(CAPACITY, Duration.ofDays(1))));
        try (RedisServer server = RedisServer.start();
                RedisStore store = RedisStore.builder(RedisClient.create(server.uri()))
                        .deadline(Duration.ofSeconds(20))
                        .denyCache(Duration.ZERO)
                        .onStoreFailure(OnStoreFailure.DENY)
                        .build()) {
            // until classes are loaded and the connection is open, answers may be late
            Iterator<Charge> keys = IntStream.range(0, 1_000)
                    .mapToObj(i -> policy.charge("first" + i))
                    .iterator();
            await().atMost(Duration.ofMinutes(1))
                    .ignoreExceptions()
                    .until(() -> admitted(store, keys.next()) == CAPACITY);
            try (PinnedThreads pinned = PinnedThreads.record()) {
                assertThat(admitted(store, policy.charge("k"))).isEqualTo(CAPACITY);
                assertThat(pinned.stop()).isEmpty();
            }
        }
    }
}
