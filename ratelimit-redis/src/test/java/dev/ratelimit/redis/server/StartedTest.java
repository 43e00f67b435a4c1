package dev.ratelimit.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

@Tag("servers")
class StartedTest {

    private static @Nullable RedisServer previous;

    @Started
    private static RedisServer shared;

    @Started({"--maxmemory", "5242880"})
    private RedisServer own;

    @RepeatedTest(2)
    void field_isStarted_andClosedAfterItsTests() {
        assertThat(shared.commands().ping()).isEqualTo("PONG");
        assertThat(own.commands().configGet("maxmemory")).containsValue("5242880");

        RedisServer ended = previous;
        previous = own;
        if (ended != null) {
            assertThatThrownBy(() -> ended.ask(RedisCommands::ping)).isInstanceOf(RedisConnectionException.class);
            assertThat(shared.commands().incr("tests")).isEqualTo(2);
        } else {
            shared.commands().incr("tests");
        }
    }
}
