package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.Ticker;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeasesTest {

    private static final Limit LIMIT = TokenBucket.of(Rate.parse("1000/day"));
    private static final Charge CHARGE = Policy.of("global", LIMIT).charge("k");
    private static final List<LimitStatus> STATUSES = List.of(new LimitStatus(CHARGE, LIMIT, 900, 0, 1, 1));

    private final FakeTicker time = new FakeTicker();
    private final List<Charge> requested = new ArrayList<>();
    private Duration stall = Duration.ZERO;

    private final Leases leases = new Leases(
            new Leases.LeaseSource() {
                @Override
                public PendingBatch charge(Charge charge) {
                    requested.add(charge);
                    return new PendingBatch(new Batch(0, 0), false, time, time);
                }

                @Override
                public PendingBatch refund(Charge charge, long atNanos) {
                    throw new AssertionError("nothing was leased");
                }
            },
            new StallingTicker(),
            time,
            0.1,
            Duration.ofSeconds(1).toNanos());

    /** A thread that has read it once may stand still for a while. */
    private final class StallingTicker implements Ticker {

        @Override
        public long nanos() {
            long now = time.nanos();
            Duration passing = stall;
            stall = Duration.ZERO;
            time.advance(passing);
            return now;
        }

        @Override
        public long epochNanos() {
            return time.epochNanos();
        }
    }

    private void ask(int times) {
        for (int i = 0; i < times; i++) {
            leases.asked(CHARGE, STATUSES);
        }
    }

    @Test
    void asked_keyIsForgottenMeanwhile_requestsNoLeaseThatNobodyWouldEnd() {
        ask(7);

        stall = Duration.ofSeconds(10);
        ask(1);
        assertThat(requested).isEmpty();

        ask(8);
        assertThat(requested).hasSize(1);
    }
}
