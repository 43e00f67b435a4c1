package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.lease.Leases;
import dev.ratelimit.lease.LeasingStore;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Only what remains shows that an instance leases permits. */
class LeasingStoreContractTest extends RateLimitStoreContract {

    /** Ends all leases before each question how many permits remain. */
    private static final class Inspected extends ForwardingStore {

        private final LeasingStore leasing;

        Inspected(LeasingStore leasing) {
            super(leasing);
            this.leasing = leasing;
        }

        @Override
        public boolean tryCharge(Charge charge) {
            return leasing.tryCharge(charge);
        }

        @Override
        public Decision peek(List<Charge> charges) {
            Leases.end(leasing);
            return leasing.peek(charges);
        }

        @Override
        public CompletionStage<Decision> decideAsync(List<Charge> charges) {
            return leasing.decideAsync(charges);
        }

        @Override
        public CompletionStage<Decision> peekAsync(List<Charge> charges) {
            Leases.end(leasing);
            return leasing.peekAsync(charges);
        }

        @Override
        @CanIgnoreReturnValue
        public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
            return leasing.refundAsync(decision, part);
        }
    }

    /** It sweeps once an hour: some tests pass years, each of a million sweeps. */
    @Override
    protected RateLimitStore newStore(FakeTicker time) {
        Scheduler seldom =
                (task, delayNanos) -> time.schedule(task, Duration.ofHours(1).toNanos());
        RateLimitStore memory =
                InMemoryStore.builder().ticker(time).scheduler(seldom).build();
        return new Inspected(new LeasingStore(memory, 0.1, Duration.ofSeconds(1), decision -> true, time, time));
    }

    /** Without what remains: a lease knows what remained when it was charged. */
    @Override
    void decide_trace_answersEveryStep(Trace trace) {
        replay(trace, (charge, step) -> {
            Decision decision = limiter.decide(charge);

            assertThat(decision.admitted()).isEqualTo(step.admitted());
            assertThat(decision.retryAfter() == null ? -1 : (decision.retryAfterNanos() + 999_999) / 1_000_000)
                    .isEqualTo(step.retryAfterMillis());
        });
    }
}
