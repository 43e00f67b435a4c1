package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lease that is on its way while its key is reset. */
class LeasesAtResetTest {

    private static final Policy GLOBAL = Policy.of("global", TokenBucket.of(Rate.of(1_000, Duration.ofDays(1_000))));

    private final FakeTicker time = new FakeTicker();
    private final FakeRedis redis = new FakeRedis(time);
    private final RedisStore leasing =
            redis.store().leased(0.1, Duration.ofMinutes(1)).build();
    private final RedisStore other = redis.store().build();

    @BeforeEach
    void requestALeaseWhoseReplyIsLate() {
        for (int i = 0; i < 7; i++) {
            assertThat(leasing.tryCharge(GLOBAL.charge("k"))).isTrue();
        }
        redis.delayRepliesAfter(1);
        assertThat(leasing.tryCharge(GLOBAL.charge("k"))).isTrue();
    }

    @AfterEach
    void close() {
        leasing.close();
        other.close();
    }

    private long remaining() {
        return other.peek(List.of(GLOBAL.charge("k"))).limits().get(0).remaining();
    }

    @Test
    void reset_leaseWasChargedBefore_returnsNothingOfWhatOthersChargeSince() {
        time.advance(Duration.ofMillis(1));
        redis.meanwhile(() -> {
            // the key is erased already, and the reply about the lease still on its way
            assertThat(other.tryCharge(GLOBAL.charge("k", 500))).isTrue();
            redis.deliver();
        });

        assertThat(leasing.reset(GLOBAL, "k")).isTrue();

        assertThat(remaining()).isEqualTo(500);
    }

    @Test
    void reset_fails_leaseIsRefunded() {
        redis.loseNextCommand();
        redis.meanwhile(redis::deliver);

        assertThat(leasing.reset(GLOBAL, "k")).isFalse();

        assertThat(remaining()).isEqualTo(992);
    }
}
