package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseTest {

    /** What the slower one has not refilled, the faster one has: it would be admitted twice. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void end_lateWithTwoBuckets_deductsWhatTheFasterHasRefilled(boolean fasterFirst) {
        Limit fast = TokenBucket.of(Rate.parse("10/second"), 1000);
        Limit slow = TokenBucket.of(Rate.parse("1/second"), 1000);
        Policy policy = fasterFirst ? Policy.of("two", fast, slow) : Policy.of("two", slow, fast);
        List<LimitStatus> statuses = policy.limits().stream()
                .map(limit -> new LimitStatus(policy.charge("k"), limit, 900, 0, 1, 100_000))
                .toList();
        Lease lease = new Lease(policy.charge("k", 100), statuses, 0, 0, 1000);

        assertThat(lease.end(1000 + Duration.ofSeconds(2).toNanos(), new AtomicLong()))
                .isEqualTo(policy.charge("k", 80));
    }
}
