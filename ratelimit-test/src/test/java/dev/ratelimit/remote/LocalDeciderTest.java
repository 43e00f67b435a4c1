package dev.ratelimit.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What was left when the server last answered is what memory starts with. */
class LocalDeciderTest {

    private static final Limit MINUTE = FixedWindow.of(Rate.parse("100/minute"));
    private static final Limit HOUR = FixedWindow.of(Rate.parse("1000/hour"));
    private static final long FULL_AFTER = Duration.ofMinutes(1).toNanos();

    private final FakeTicker time = new FakeTicker();
    private final StatusCache cache = new StatusCache(time, 1_024, 0);
    private final LocalDecider decider = new LocalDecider(
            InMemoryStore.builder().ticker(time).build(),
            new LocalLimits(1),
            cache,
            Map.of(),
            OnStoreFailure.LOCAL,
            Duration.ofSeconds(1));

    @AfterEach
    void stop() {
        decider.close();
    }

    private void tell(Charge charge, long... remaining) {
        List<LimitStatus> statuses = new ArrayList<>();
        for (int i = 0; i < remaining.length; i++) {
            Limit limit = charge.policy().limits().get(i);
            long retryAfter = remaining[i] == 0 ? FULL_AFTER : 0;
            statuses.add(new LimitStatus(charge, limit, remaining[i], retryAfter, FULL_AFTER, FULL_AFTER));
        }
        cache.put(charge, statuses, cache.now());
    }

    private PendingDecision decide(Charge charge, boolean take) {
        PendingDecision pending = new PendingDecision(List.of(charge));
        pending.unanswered().add(charge);
        decider.decide(pending, take);
        return pending;
    }

    /** The permits left of each limit. */
    private List<Long> remaining(Policy policy) {
        return decide(policy.charge("k"), false).decision(true).limits().stream()
                .map(LimitStatus::remaining)
                .toList();
    }

    @Test
    void exhaustedKey_askedByManyAtOnce_getsNothing() throws Exception {
        Policy policy = Policy.of("p", MINUTE);
        int threads = 8;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            for (int key = 0; key < 500; key++) {
                Charge charge = policy.charge("k" + key);
                tell(charge, 0);
                CyclicBarrier together = new CyclicBarrier(threads);
                Callable<Boolean> asker = () -> {
                    together.await();
                    return decide(charge, true).admitted();
                };
                List<Future<Boolean>> answers = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    answers.add(pool.submit(asker));
                }
                for (Future<Boolean> answer : answers) {
                    assertThat(answer.get()).isFalse();
                }
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void limits_inAnotherOrder_startWithTheirOwnState() {
        tell(Policy.of("p", MINUTE, HOUR).charge("k"), 0, 900);

        assertThat(remaining(Policy.of("p", HOUR, MINUTE))).containsExactly(900L, 0L);
    }

    @Test
    void limits_withOnePeriod_startWithTheirOwnState() {
        FixedWindow other = FixedWindow.of(Rate.parse("500/hour"));
        tell(Policy.of("p", HOUR, other).charge("k"), 900, 100);

        assertThat(remaining(Policy.of("p", MINUTE, HOUR, other))).containsExactly(100L, 900L, 100L);
    }

    @Test
    void limit_thatIsNew_isFull_andTheOthersHaveTheirs() {
        tell(Policy.of("p", MINUTE, HOUR).charge("k"), 10, 900);

        assertThat(remaining(Policy.of("p", FixedWindow.of(Rate.parse("5000/day")), HOUR, MINUTE)))
                .containsExactly(5_000L, 900L, 10L);
    }

    @Test
    void limit_withAnotherPeriod_startsWithThatOfItsRank() {
        tell(Policy.of("p", HOUR).charge("k"), 250);

        assertThat(remaining(Policy.of("p", FixedWindow.of(Rate.parse("1000/30m")))))
                .containsExactly(250L);
    }

    @Test
    void limit_withAnotherPeriodInAnotherPlace_startsWithThatOfItsRank() {
        tell(Policy.of("p", MINUTE, HOUR).charge("k"), 10, 900);

        assertThat(remaining(Policy.of("p", FixedWindow.of(Rate.parse("1000/30m")), MINUTE)))
                .containsExactly(900L, 10L);
    }
}
