package dev.ratelimit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.redis.RedisStore;
import dev.ratelimit.redis.server.RedisServer;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

class SharedPausesTest {

    private static final String KEY = "https://api.example.com";

    private static Pauses pauses(RateLimitStore store) {
        return new Pauses(store, ClientLimits.SERVER, Duration.ofHours(1));
    }

    private static RateLimitStore store(RedisClient client) {
        return RedisStore.builder(client)
                .deadline(Duration.ofMinutes(1))
                .onStoreFailure(OnStoreFailure.DENY)
                .build();
    }

    private static long left(RateLimitStore store) {
        Pauses pauses = pauses(store);
        return pauses.leftNanos(store.decide(List.of(pauses.question(KEY)))) / 1_000_000;
    }

    /** Each thread is an instance of its own, so all may charge before one refunds. */
    @Test
    void pause_ofSeveralInstancesAtOnce_isAsLongAsTheServerSaid() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            RedisClient client = RedisClient.create("redis://127.0.0.1:" + server.port());
            RateLimitStore store = store(client);
            RateLimitStore other = store(client);
            CyclicBarrier start = new CyclicBarrier(8);
            List<Thread> instances = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Pauses pauses = pauses(i % 2 == 0 ? store : other);
                Thread instance = new Thread(() -> {
                    try {
                        start.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    pauses.pause(KEY, 600);
                });
                instance.start();
                instances.add(instance);
            }
            for (Thread instance : instances) {
                instance.join();
            }

            assertThat(left(other)).isBetween(540_000L, 600_100L);
            pauses(other).pause(KEY, 1_200);
            assertThat(left(store)).isBetween(1_140_000L, 1_200_100L);
            store.close();
            other.close();
            client.shutdown();
        }
    }
}
