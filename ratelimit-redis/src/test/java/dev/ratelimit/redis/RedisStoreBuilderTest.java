package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No server is needed: a store connects when it is used. */
class RedisStoreBuilderTest {

    private final RedisClient client = RedisClient.create("redis://127.0.0.1:1");

    @AfterEach
    void shutDown() {
        client.shutdown(0, 0, TimeUnit.SECONDS);
    }

    private void assertRefused(Consumer<RedisStoreBuilder> setting, String message) {
        RedisStoreBuilder builder = RedisStore.builder(client);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> {
                    setting.accept(builder);
                    builder.build();
                })
                .withMessage(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-0.001S"})
    void durations_notPositive_areRejected(Duration time) {
        assertRefused(builder -> builder.deadline(time), "deadline must be positive but was " + time);
        assertRefused(builder -> builder.openFor(time), "open-for must be positive but was " + time);
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "21"})
    void failures_outOfRange_areRejected(int failures) {
        assertRefused(builder -> builder.failures(failures), "failures must be from 1 to 20 but was " + failures);
    }

    @Test
    void others_outOfRange_areRejected() {
        assertRefused(
                builder -> builder.maxInFlight(0),
                "max-in-flight must be from 1 to " + Integer.MAX_VALUE + " but was 0");
        assertRefused(
                builder -> builder.denyCache(Duration.ofNanos(-1)),
                "deny-cache must not be negative but was PT-0.000000001S");
        assertRefused(builder -> builder.localShare(0), "local share must be above 0 and at most 1 but was 0.0");
        assertRefused(
                builder -> builder.prefix("{x}"),
                "key prefix must be 1 to 32 letters, digits, dots, hyphens, underscores and colons but was '{x}'");
    }

    @Test
    void build_setsTheClientUpSoThatNothingIsQueuedOrSentTwice() {
        RedisStore.builder(client).build().close();

        assertThat(client.getOptions().isAutoReconnect()).isFalse();
        assertThat(client.getOptions().getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
        assertThat(client.getOptions().getRequestQueueSize()).isLessThanOrEqualTo(10_000);
    }

    @Test
    void build_withoutServer_startsAtOnceAndSaysThatItHasNotBeenReached() {
        // on a busy machine, the first attempt of a client may take longer than a new store waits
        assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(client::connect);
        Events events = new Events();
        try (RedisStore store = RedisStore.builder(client).listener(events).build()) {
            assertThat(store.available()).isFalse();
            assertThat(events.changes()).isEqualTo(1);
            assertThat(events.failures()).isZero();
            assertThat(events.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("Redis has not been reached yet")
                    .contains("(connection: Unable to connect to 127.0.0.1", ":1)");
        } finally {
            events.close();
        }
    }
}
