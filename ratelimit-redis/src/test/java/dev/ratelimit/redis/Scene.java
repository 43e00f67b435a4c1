package dev.ratelimit.redis;

import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A store with a separate client, and its events. */
final class Scene implements AutoCloseable {

    static final Duration DEADLINE = Duration.ofMillis(50);
    static final Duration OPEN_FOR = Duration.ofMillis(200);

    /** The maximum open interval: it varies by a tenth. */
    static final Duration SHORTEST_OPEN = Duration.ofMillis(180);

    /** So large that nothing measurable refills during a test, and nothing is refused. */
    static final Policy WIDE = Policy.of("wide", TokenBucket.of(Rate.of(1_000_000, Duration.ofDays(10_000))));

    /** Whether outages take as long as in production. */
    static final boolean LONG = Boolean.getBoolean("redis.long");

    private static final Duration PATIENCE = Duration.ofSeconds(LONG ? 90 : 20);
    private static final ClientResources RESOURCES = DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .build();

    final RedisClient client;
    final RedisStore store;
    final Events events = new Events();

    /** A store with a deadline of 50 ms that does not use a failing server for 200 ms. */
    Scene(RedisURI uri) {
        this(uri, settings -> settings);
    }

    /** The same with other settings. */
    Scene(RedisURI uri, UnaryOperator<RedisStoreBuilder> settings) {
        client = RedisClient.create(RESOURCES, uri);
        store = settings.apply(RedisStore.builder(client)
                        .deadline(DEADLINE)
                        .openFor(OPEN_FOR)
                        .denyCache(Duration.ZERO)
                        .listener(events))
                .build();
    }

    /** Asks until Redis answers, because the first requests load classes. */
    Scene connected() {
        awaitRedis();
        return this;
    }

    /** Waits until Redis decides. */
    void awaitRedis() {
        awaitUntil(() -> byRedis(store.peek(List.of(WIDE.charge("warm-up")))) && store.available());
    }

    static void awaitUntil(Callable<Boolean> condition) {
        await().atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    Decision decide(Policy policy, String key) {
        return store.decide(List.of(policy.charge(key)));
    }

    /** Whether this answer comes from Redis, and not from memory. */
    static boolean byRedis(Decision decision) {
        return RedisStore.decidedByRedis(decision);
    }

    @Override
    public void close() {
        store.close();
        events.close();
        client.shutdown(0, 0, TimeUnit.SECONDS);
    }
}
