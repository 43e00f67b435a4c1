package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.faults.EveryCall;
import dev.ratelimit.faults.Fuse;
import dev.ratelimit.faults.Scenario;
import dev.ratelimit.faults.Starvation;
import dev.ratelimit.remote.RemoteStore;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A call for which no memory is left, at any line, uses up no place in flight for good, and holds no permit that nobody got. */
@ExtendWith(SilentLog.class)
class LostPlacesTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(10));

    static class Calls implements Scenario {

        final FakeTicker time = new FakeTicker();
        private final FakeRedis redis = new FakeRedis(time);
        final RedisStore store = redis.store()
                .maxInFlight(1)
                .failures(20)
                .denyCache(Duration.ZERO)
                .build();

        /** Whether the caller got the permit. */
        boolean got;

        Calls(Fuse fuse) {
            requireRedis();
        }

        @Override
        public void run() throws Throwable {
            Decision decision = store.decide(List.of(SLOTS.charge("k")));
            got = true;
            store.refund(decision);
        }

        @Override
        public void check() {
            for (int i = 0; i < 50; i++) {
                time.advance(Duration.ofMillis(100));
            }
            assertThat(got ? 10 : requireRedis()).as("permits left").isEqualTo(10);
            requireRedis();
            store.close();
        }

        private long requireRedis() {
            Decision decision = store.peek(List.of(SLOTS.charge("k")));
            assertThat(RedisStore.decidedByRedis(decision)).isTrue();
            return decision.limits().get(0).remaining();
        }
    }

    /** Of callers who do not wait. */
    static final class AsyncCalls extends Calls {

        AsyncCalls(Fuse fuse) {
            super(fuse);
        }

        @Override
        public void run() throws Throwable {
            // the permit of an answer that cannot be handed over comes back after its max-hold
            got = true;
            CompletableFuture<Decision> decided =
                    store.decideAsync(List.of(SLOTS.charge("k"))).toCompletableFuture();
            time.advance(Duration.ofSeconds(1));
            if (decided.isDone()) {
                store.refundAsync(decided.join());
            }
        }
    }

    @Test
    void decide_memoryEndsAnywhere_placeComesBack() {
        assertThat(EveryCall.throwsOnce(Starvation.of(Calls.class, RemoteStore.class)))
                .isGreaterThan(50);
    }

    @Test
    void decideAsync_memoryEndsAnywhere_placeComesBack() {
        assertThat(EveryCall.throwsOnce(Starvation.of(AsyncCalls.class, RemoteStore.class)))
                .isGreaterThan(50);
    }
}
