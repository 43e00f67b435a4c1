package dev.ratelimit.redis;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.redis.server.RedisServer;
import dev.ratelimit.redis.server.Started;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous calls of a real server: which threads they use, and exact counts under load. */
@Tag("servers")
@Timeout(60)
class AsyncServerTest {

    private static final Policy POLICY = Policy.of("p", FixedWindow.of(Rate.parse("500/day")));

    @Started
    private static RedisServer server;

    private static RedisStore newStore() {
        return RedisStore.builder(server.newClient())
                .deadline(Duration.ofSeconds(20))
                .onStoreFailure(OnStoreFailure.DENY)
                .denyCache(Duration.ZERO)
                .build();
    }

    @Test
    void dependents_thatBlock_stopNeitherOthersNorTheStore() throws InterruptedException {
        try (RedisStore store = newStore()) {
            CountDownLatch end = new CountDownLatch(1);
            // so that nothing is answered before it has dependents
            server.commands().clientPause(200);
            CompletableFuture<String> blocked = store.decideAsync(List.of(POLICY.charge("blocked")))
                    .thenApply(decision -> {
                        try {
                            end.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                        return Thread.currentThread().getName();
                    })
                    .toCompletableFuture();

            List<CompletableFuture<Decision>> others = IntStream.range(0, 100)
                    .mapToObj(i -> store.decideAsync(List.of(POLICY.charge("other" + i)))
                            .toCompletableFuture())
                    .toList();
            others.forEach(
                    each -> assertThat(RedisStore.decidedByRedis(each.join())).isTrue());
            assertThat(store.decide(List.of(POLICY.charge("third")))).isAdmitted();

            assertThat(blocked).isNotDone();
            end.countDown();
            assertThat(blocked.join()).isEqualTo("ratelimit-blocking");
        }
    }

    @Test
    void manyCallers_someOfThemBlocking_areAdmittedExactly() throws InterruptedException {
        try (RedisStore store = newStore()) {
            RateLimiter limiter = new RateLimiter(store);
            AtomicInteger admitted = new AtomicInteger();
            AtomicInteger refunded = new AtomicInteger();
            List<Thread> callers = IntStream.range(0, 8)
                    .mapToObj(caller -> new Thread(() -> {
                        for (int i = 0; i < 100; i++) {
                            Reservation reservation = caller % 2 == 0
                                    ? limiter.acquireAsync(Duration.ZERO, POLICY.charge("hot"))
                                            .join()
                                    : limiter.reserve(POLICY.charge("hot"));
                            admitted.addAndGet(reservation.admitted() ? 1 : 0);
                            if (i % 10 == 0 && reservation.refundAsync().join()) {
                                refunded.incrementAndGet();
                            }
                        }
                    }))
                    .toList();
            callers.forEach(Thread::start);
            for (Thread caller : callers) {
                caller.join();
            }

            long used = 500 - limiter.inspect(POLICY, "hot").get(0).remaining();
            assertThat(admitted.get()).isGreaterThanOrEqualTo(500);
            assertThat(used).isEqualTo(admitted.get() - refunded.get()).isLessThanOrEqualTo(500);
        }
    }
}
