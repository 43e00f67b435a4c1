package dev.ratelimit.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("servers")
class RedisReplicationTest {

    @Started
    private RedisReplication replication;

    @Test
    void killedMaster_replicaTakesOverWithTheKeys() {
        replication.master().ask(redis -> redis.set("k", "v") + redis.waitForReplication(1, 5_000));
        assertThat(port()).isEqualTo(replication.master().port());

        replication.master().kill();

        int successor = replication.replica().port();
        await().atMost(Duration.ofSeconds(20)).until(() -> port() == successor);
        String kept = replication.replica().ask(redis -> redis.getset("k", "w"));
        assertThat(kept).isEqualTo("v");
    }

    /** Of the server that the sentinel returns to clients. */
    private int port() {
        RedisClient client = RedisClient.create(replication.sentinelUri(RedisReplication.MASTER_ID));
        try (var connection = client.connectSentinel()) {
            return ((InetSocketAddress) connection.sync().getMasterAddrByName(RedisReplication.MASTER_ID)).getPort();
        } finally {
            client.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }
}
