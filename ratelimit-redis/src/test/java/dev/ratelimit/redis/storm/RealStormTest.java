package dev.ratelimit.redis.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.redis.SilentLog;
import dev.ratelimit.redis.server.RedisCluster;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import io.lettuce.core.ScanIterator;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Histories of the storm on real servers, forty times as fast: what such a server can do of the drawn faults, and what
 * callers ask. What is granted must be within the same bounds as in the simulation, which {@link StormTest} runs with the
 * same seeds.
 */
@Tag("nightly")
@Tag("servers")
@ExtendWith(SilentLog.class)
class RealStormTest {

    private static final int HISTORIES = 100;

    @Started
    private static RedisServer server;

    @Started
    private static RedisCluster cluster;

    @Test
    void realServers_admitWithinTheBoundsOfTheSimulation() {
        LongStream.range(0, HISTORIES).mapToObj(History::draw).forEach(RealStormTest::run);
    }

    private static void run(History history) {
        boolean clustered = history.setup().masters() > 1;
        List<RedisServer> servers = clustered ? cluster.nodes() : List.of(server);
        try (RealStorm storm = new RealStorm(history, servers, clustered ? cluster : null)) {
            storm.run();
            await().atMost(Duration.ofSeconds(60)).until(storm::isWell);
            storm.exhaust();
            storm.requireBounds();
        }
        servers.forEach(RealStormTest::requireExpiry);
    }

    private static void requireExpiry(RedisServer server) {
        server.ask(redis -> {
            ScanIterator<String> keys = ScanIterator.scan(redis);
            keys.forEachRemaining(key -> assertThat(redis.pttl(key)).as(key).isNotEqualTo(-1));
            return null;
        });
    }
}
