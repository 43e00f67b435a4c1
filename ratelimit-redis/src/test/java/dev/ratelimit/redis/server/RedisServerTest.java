package dev.ratelimit.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("servers")
class RedisServerTest {

    @Test
    void restart_comesBackEmptyOnTheSamePort() {
        try (RedisServer server = RedisServer.start()) {
            server.ask(redis -> redis.set("k", "v"));

            server.restart();

            String left = server.ask(redis -> redis.get("k"));
            assertThat(left).isNull();
        }
    }
}
