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
    private final List<PendingBatch> underWay = new ArrayList<>();
    private final List<Charge> refunded = new ArrayList<>();
    private Duration stall = Duration.ZERO;

    private final Leases leases = new Leases(
            new Leases.LeaseSource() {
                @Override
                public PendingBatch charge(Charge charge) {
                    requested.add(charge);
                    Batch batch = new Batch(0, 0);
                    batch.add(charge, List.of(RedisLimits.of(LIMIT)), "k");
                    PendingBatch pending = new PendingBatch(batch, false, time, time);
                    underWay.add(pending);
                    return pending;
                }

                @Override
                public PendingBatch refund(Charge charge, long atNanos) {
                    refunded.add(charge);
                    return new PendingBatch(new Batch(0, 0), true, time, time);
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

    /** The first lease has been charged at this time by the server's clock. */
    private void arrive(long atMicros) {
        PendingBatch sent = underWay.get(0);
        sent.arrived(
                new Reply(
                        Reply.Verdict.ADMITTED, atMicros, new long[sent.batch().numbers()]),
                null);
    }

    @Test
    void pay_bucketIsFullAgain_leaseGoesOn() {
        ask(8);
        arrive(100);
        time.advance(Duration.ofMillis(900));

        assertThat(leases.pay(CHARGE)).isNotNull();
    }

    @Test
    void pay_leaseHasExpired_endsItAtOnce() {
        ask(7);
        time.advance(Duration.ofMillis(100));
        ask(1);
        arrive(100);

        // the sweep comes at 1.25 s
        time.advance(Duration.ofMillis(1010));
        assertThat(leases.pay(CHARGE)).isNull();

        assertThat(refunded).isEqualTo(requested);
    }

    @Test
    void drop_leaseArrivesLater_isRefundedUnlessItWasErased() {
        ask(8);
        Reset reset = leases.drop(CHARGE);
        reset.ended(100);

        arrive(200);

        assertThat(refunded).isEqualTo(requested);
    }

    @Test
    void drop_leaseOfBeforeIsErasedByTheNextReset_isNotRefunded() {
        ask(8);
        leases.drop(CHARGE).ended(100);
        Reset second = leases.drop(CHARGE);

        arrive(200);
        second.ended(300);

        assertThat(refunded).isEmpty();
    }

    @Test
    void drop_nextResetFails_leaseOfBeforeIsRefunded() {
        ask(8);
        Reset first = leases.drop(CHARGE);
        Reset second = leases.drop(CHARGE);
        first.ended(100);
        second.ended(0);

        arrive(200);

        assertThat(refunded).isEqualTo(requested);
    }

    @Test
    void asked_resetIsOnItsWay_requestsNoLeaseThatItWouldErase() {
        Reset first = leases.drop(CHARGE);
        ask(8);
        assertThat(requested).isEmpty();

        first.ended(100);
        ask(8);
        assertThat(requested).hasSize(1);
    }
}
