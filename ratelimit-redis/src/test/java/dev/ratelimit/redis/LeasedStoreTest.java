package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.test.FakeTicker;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Leases: charged first, spent here, given back. The server's clock is real, so limits are by the hour. */
class LeasedStoreTest {

    private static final Policy GLOBAL = Policy.of("global", TokenBucket.of(Rate.parse("100000/day")));
    private static final int CAPACITY = 100_000;

    private static RedisServer server;
    private static RedisClient client;
    private static RedisStore exact;

    private final FakeTicker ticker = new FakeTicker();
    private final RedisStore leased = store();

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
        client = RedisClient.create(server.uri());
        exact = RedisStore.builder(RedisClient.create(server.uri()))
                .onStoreFailure(OnStoreFailure.DENY)
                .deadline(Duration.ofSeconds(20))
                .build();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    private RedisStore store() {
        return RedisStore.builder(client)
                .ticker(ticker)
                .deadline(Duration.ofSeconds(20))
                .onStoreFailure(OnStoreFailure.DENY)
                .leased(0.1, Duration.ofSeconds(1))
                .build();
    }

    private static long remaining(String key) {
        return exact.peek(List.of(GLOBAL.charge(key))).limits().get(0).remaining();
    }

    private static long commands() {
        String stats = server.ask(redis -> redis.info("commandstats"));
        return stats.lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .mapToLong(line -> Long.parseLong(line.replaceFirst(".*calls=(\\d+),.*", "$1")))
                .sum();
    }

    @Test
    void decide_hotKey_takesFewRoundTrips() {
        long before = commands();

        for (int i = 0; i < 20_000; i++) {
            assertThat(leased.decide(List.of(GLOBAL.charge("hot")))).isAdmitted();
        }

        assertThat(commands() - before).isLessThan(2_000);
        leased.close();
        assertThat(remaining("hot")).isEqualTo(CAPACITY - 20_000);
    }
}
