package dev.ratelimit.test;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Counts under load, with a clock that stands still. */
class ConcurrencyTest {

    private final FakeTicker ticker = new FakeTicker();
    private final RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();

    private static Policy policy(String name, Limit... limits) {
        return Policy.of(name, limits);
    }

    @RepeatedTest(100)
    @DisplayName("A13 64 threads: the strictest policy is admitted exactly, and every other is charged exactly that")
    void decide_64Threads_admitsExactlyTheTightest_andTheOthersPayNoMore() throws InterruptedException {
        Policy user = policy("user", FixedWindow.of(Rate.parse("40/second")), SlidingLog.of(Rate.parse("70/hour")));
        Policy endpoint = policy("endpoint", SlidingWindow.of(Rate.parse("300/minute")));
        Policy global = policy("global", TokenBucket.of(Rate.parse("100/minute")));
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(64, 8, () -> {
            String key = Long.toString(Thread.currentThread().getId() % 4);
            List<Charge> charges = List.of(user.charge(key), endpoint.charge("e"), global.charge());
            admitted.addAndGet(store.decide(charges).admitted() ? 1 : 0);
        });

        assertThat(admitted).hasValue(100);
        assertThat(store.peek(List.of(endpoint.charge("e"), global.charge()))).hasRemaining(200, 0);
        long paidByUsers = Stream.of("0", "1", "2", "3")
                .mapToLong(key -> 40
                        - store.peek(List.of(user.charge(key))).limits().get(0).remaining())
                .sum();
        assertThat(paidByUsers).isEqualTo(100);
    }

    @RepeatedTest(50)
    @DisplayName(
            "A13 64 threads that name the limits in any order: the strictest is admitted exactly, none waits forever")
    void tryCharge_64ThreadsInAnyOrder_admitsExactlyTheTightest() throws InterruptedException {
        Policy user = policy("user", FixedWindow.of(Rate.parse("40/second")), SlidingLog.of(Rate.parse("70/hour")));
        Policy endpoint = policy("endpoint", SlidingWindow.of(Rate.parse("300/minute")));
        Policy global = policy("global", TokenBucket.of(Rate.parse("100/minute")));
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(64, 8, () -> {
            int call = calls.getAndIncrement();
            String key = Integer.toString(call % 4);
            List<Charge> charges = new ArrayList<>(
                    List.of(user.charge(key), user.charge("all"), endpoint.charge("e"), global.charge()));
            Collections.rotate(charges, call);
            admitted.addAndGet(store.tryCharge(charges) ? 1 : 0);
        });

        assertThat(admitted).hasValue(40);
        assertThat(store.peek(List.of(user.charge("all"), endpoint.charge("e"), global.charge())))
                .hasRemaining(0, 30, 260, 60);
    }

    @Test
    @DisplayName("A13 one policy refuses: the others are unchanged, and the longest wait is reported")
    void decide_oneRefuses_othersAreUnchanged() {
        Policy tight = policy("tight", FixedWindow.of(Rate.parse("1/hour")));
        Policy tighter = policy("tighter", SlidingLog.of(Rate.parse("1/day")));
        Policy wide = policy("wide", TokenBucket.of(Rate.parse("100/minute")));
        List<Charge> charges = List.of(wide.charge(), tight.charge(), tighter.charge());
        store.decide(charges);

        for (int i = 0; i < 50; i++) {
            assertThat(store.decide(charges)).isRefusedBy("tighter", "tight").hasRetryAfter(Duration.ofDays(1));
        }

        assertThat(store.peek(charges)).hasRemaining(99, 0, 0);
    }

    static Stream<Limit> oneAnHour() {
        Rate rate = Rate.parse("1/hour");
        return Stream.of(TokenBucket.of(rate), FixedWindow.of(rate), SlidingWindow.of(rate), SlidingLog.of(rate));
    }

    @ParameterizedTest
    @MethodSource("oneAnHour")
    @DisplayName("B3 of two threads that take the last permit, one gets it")
    void lastPermit_twoThreads_oneGetsIt(Limit limit) throws InterruptedException {
        for (int round = 0; round < 300; round++) {
            Charge last = policy("p", limit).charge("k" + round);
            AtomicInteger admitted = new AtomicInteger();
            Threads.run(2, 1, () -> admitted.addAndGet(store.tryCharge(last) ? 1 : 0));
            assertThat(admitted).hasValue(1);
        }
    }

    @ParameterizedTest
    @MethodSource("oneAnHour")
    @DisplayName("B3 a refund lets in exactly one more, however often it is called, and in any order")
    void refund_threeThreadsAskForIt_letsInOneMore(Limit limit) throws InterruptedException {
        RateLimiter limiter = new RateLimiter(store, ticker);
        for (int round = 0; round < 300; round++) {
            Charge last = policy("p", limit).charge("k" + round);
            Reservation taken = limiter.reserve(last);
            AtomicInteger refunds = new AtomicInteger();
            AtomicInteger meanwhile = new AtomicInteger();

            Threads.run(3, 1, () -> {
                refunds.addAndGet(taken.refund() ? 1 : 0);
                meanwhile.addAndGet(store.tryCharge(last) ? 1 : 0);
            });

            assertThat(refunds).hasValue(1);
            assertThat(meanwhile).hasValue(1);
        }
    }

    @ParameterizedTest
    @MethodSource("oneAnHour")
    @DisplayName("B4 a key that is evicted or swept while it is charged never has two budgets")
    void charge_whileKeysAreEvictedAndSwept_losesNoCharge(Limit limit) throws InterruptedException {
        for (int round = 0; round < 100; round++) {
            FakeTicker time = new FakeTicker();
            InMemoryStore small =
                    InMemoryStore.builder().ticker(time).maxKeys(9).build();
            Policy policy = policy("p", limit);
            // full keys for the eviction and the sweep: as many as max-keys
            for (String key : List.of("a", "b", "c", "d", "e", "f", "g", "h", "hot")) {
                small.tryCharge(policy.charge(key));
                small.reset(policy, key);
            }
            AtomicInteger admitted = new AtomicInteger();
            AtomicInteger next = new AtomicInteger();

            Threads.run(4, 3, () -> {
                int n = next.getAndIncrement();
                if (n % 4 == 3) {
                    time.advance(Duration.ofSeconds(30));
                } else if (n % 4 == 2) {
                    small.tryCharge(policy.charge("new" + n));
                    small.decide(List.of(policy.charge("newer" + n)));
                } else {
                    admitted.addAndGet(small.tryCharge(policy.charge("hot")) ? 1 : 0);
                }
            });

            assertThat(admitted).hasValue(1);
            assertThat(small.evictedFull("p")).isPositive();
        }
    }

    @RepeatedTest(100)
    @DisplayName("B5 64 platform threads and a capacity of 1000: exactly 1000 are admitted")
    void tryCharge_64PlatformThreads_admitsExactlyTheCapacity() throws InterruptedException {
        Charge charge = policy("p", TokenBucket.of(Rate.parse("1000/hour"))).charge("hot");
        AtomicInteger admitted = new AtomicInteger();

        Threads.run(64, 25, () -> admitted.addAndGet(store.tryCharge(charge) ? 1 : 0));

        assertThat(admitted).hasValue(1_000);
    }

    @Test
    @DisplayName("B5 10,000 virtual threads and a capacity of 1000: exactly 1000 are admitted")
    void tryCharge_10000VirtualThreads_admitsExactlyTheCapacity() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21, "virtual threads need JDK 21 or newer");
        Object executor =
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        ExecutorService threads = (ExecutorService) executor;
        for (int round = 0; round < 20; round++) {
            Charge charge = policy("p", FixedWindow.of(Rate.parse("1000/hour"))).charge("hot" + round);
            AtomicInteger admitted = new AtomicInteger();
            List<Callable<Integer>> tasks =
                    Collections.nCopies(10_000, () -> admitted.addAndGet(store.tryCharge(charge) ? 1 : 0));
            threads.invokeAll(tasks);
            assertThat(admitted).hasValue(1_000);
        }
        threads.shutdown();
        assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    @DisplayName("A14 a limit that changes while it is charged never admits more than the larger of the two")
    void decide_limitChangesMeanwhile_admitsAtMostTheLarger() throws InterruptedException {
        for (int round = 0; round < 50; round++) {
            String key = "k" + round;
            Policy small = policy("p", TokenBucket.of(Rate.parse("50/hour")));
            Policy large = policy("p", FixedWindow.of(Rate.parse("100/hour")));
            AtomicInteger admitted = new AtomicInteger();
            AtomicInteger calls = new AtomicInteger();

            Threads.run(8, 40, () -> {
                Policy now = calls.incrementAndGet() < 150 ? small : large;
                admitted.addAndGet(store.tryCharge(now.charge(key)) ? 1 : 0);
            });

            assertThat(admitted.get()).isBetween(50, 100);
        }
    }
}
