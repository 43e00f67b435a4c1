package dev.ratelimit.queue;

import static dev.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@SuppressWarnings("FutureReturnValueIgnored") // collected by ask()
class RateLimitQueueTest {

    private static final Policy FIFTY = Policy.of("fifty", TokenBucket.of(Rate.parse("50/second")));
    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.of(1, Duration.ofSeconds(1))));
    private static final Policy OTHER = Policy.of("other", TokenBucket.of(Rate.of(1, Duration.ofSeconds(10))));

    private final FakeTicker ticker = new FakeTicker();
    private final InMemoryStore store = InMemoryStore.builder().ticker(ticker).build();
    private final List<CompletableFuture<Decision>> asked = new ArrayList<>();

    private RateLimitQueue queue(Policy policy, Duration maxWait, int maxWaiting) {
        return queue(policy, new Waiting(maxWait, maxWaiting, Order.OLDEST_FIRST));
    }

    private RateLimitQueue queue(Policy policy, Waiting waiting) {
        return RateLimitQueue.builder(store)
                .ticker(ticker)
                .policy(policy.name(), waiting)
                .build();
    }

    private CompletableFuture<Decision> ask(RateLimitQueue queue, Charge... charges) {
        CompletableFuture<Decision> answer = queue.acquire(charges);
        asked.add(answer);
        return answer;
    }

    private void ask(RateLimitQueue queue, List<Charge> charges, Supplier<Decision> decide) {
        asked.add(queue.acquire(charges, decide));
    }

    private static boolean admitted(CompletableFuture<Decision> answer) {
        try {
            return answer.isDone() && answer.get().admitted();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean refused(CompletableFuture<Decision> answer) {
        return answer.isDone() && !answer.isCancelled() && !admitted(answer);
    }

    private long countAdmitted() {
        return asked.stream().filter(RateLimitQueueTest::admitted).count();
    }

    private long countRefused() {
        return asked.stream().filter(RateLimitQueueTest::refused).count();
    }

    @Test
    void burst_of200_isAdmittedIn3Seconds_asTheLimitAllows() {
        RateLimitQueue queue = queue(FIFTY, Duration.ofSeconds(4), 200);
        for (int i = 0; i < 200; i++) {
            ask(queue, FIFTY.charge());
        }
        assertThat(countAdmitted()).isEqualTo(50);
        assertThat(queue.waiting("fifty")).isEqualTo(150);

        for (int millis = 20; millis <= 3_000; millis += 20) {
            ticker.advance(Duration.ofMillis(20));
            assertThat(countAdmitted()).isEqualTo(50 + millis / 20);
        }
        assertThat(queue.waiting("fifty")).isZero();
        assertThat(countRefused()).isZero();
    }

    @Test
    void burst_beyondTheRoom_isRefusedAtOnce() {
        RateLimitQueue queue = queue(FIFTY, Duration.ofSeconds(4), 100);

        for (int i = 0; i < 200; i++) {
            ask(queue, FIFTY.charge());
        }

        assertThat(countAdmitted()).isEqualTo(50);
        assertThat(countRefused()).isEqualTo(50);
        assertThat(queue.waiting("fifty")).isEqualTo(100);
    }

    @Test
    void burst_beyondMaxWait_isRefusedAtOnce() {
        RateLimitQueue queue = queue(FIFTY, Duration.ofSeconds(1), 200);

        for (int i = 0; i < 200; i++) {
            ask(queue, FIFTY.charge());
        }

        assertThat(countAdmitted()).isEqualTo(50);
        assertThat(queue.waiting("fifty")).isEqualTo(50);
        assertThat(countRefused()).isEqualTo(100);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(countAdmitted()).isEqualTo(100);
    }

    @Test
    void newcomer_doesNotOvertake() {
        RateLimitQueue queue = queue(ONE, Duration.ofSeconds(10), 10);
        ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> second = ask(queue, ONE.charge("a"));
        ticker.advance(Duration.ofMillis(999));

        CompletableFuture<Decision> third = ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> otherKey = ask(queue, ONE.charge("b"));
        ticker.advance(Duration.ofMillis(1));

        assertThat(admitted(second)).isTrue();
        assertThat(third.isDone()).isFalse();
        assertThat(admitted(otherKey)).isTrue();
        ticker.advance(Duration.ofSeconds(1));
        assertThat(admitted(third)).isTrue();
    }

    @Test
    void newestFirst_servesTheLast_andDropsTheOldest() {
        RateLimitQueue queue = queue(ONE, new Waiting(Duration.ofSeconds(10), 2, Order.NEWEST_FIRST));
        ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> second = ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> third = ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> fourth = ask(queue, ONE.charge("a"));

        assertThat(refused(second)).isTrue();
        ticker.advance(Duration.ofSeconds(1));
        assertThat(admitted(fourth)).isTrue();
        assertThat(third.isDone()).isFalse();
        ticker.advance(Duration.ofSeconds(1));
        assertThat(admitted(third)).isTrue();
    }

    @Test
    void fullRoom_isSharedFairly() {
        RateLimitQueue queue = queue(ONE, Duration.ofSeconds(100), 6);
        for (int i = 0; i < 10; i++) {
            ask(queue, ONE.charge("greedy"));
        }
        assertThat(queue.waiting("one")).isEqualTo(6);

        ask(queue, ONE.charge("modest"));
        CompletableFuture<Decision> modest = ask(queue, ONE.charge("modest"));
        CompletableFuture<Decision> again = ask(queue, ONE.charge("modest"));

        assertThat(modest.isDone()).isFalse();
        assertThat(again.isDone()).isFalse();
        assertThat(queue.waiting("one")).isEqualTo(6);
        // the last ones of the greedy key made room
        assertThat(refused(asked.get(6))).isTrue();
        assertThat(refused(asked.get(5))).isTrue();
        assertThat(asked.get(4).isDone()).isFalse();
    }

    @Test
    void cancelled_leavesTheQueue_andTheNextOneIsServed() {
        RateLimitQueue queue = queue(ONE, Duration.ofSeconds(10), 10);
        ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> gone = ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> next = ask(queue, ONE.charge("a"));

        gone.cancel(false);

        assertThat(queue.waiting("one")).isEqualTo(1);
        ticker.advance(Duration.ofSeconds(1));
        assertThat(admitted(next)).isTrue();
    }

    @Test
    void permitsUsedByOthers_refuseAtTheDeadline() {
        RateLimitQueue queue = queue(ONE, Duration.ofMillis(2_500), 10);
        ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> waiting = ask(queue, ONE.charge("a"));
        for (int i = 0; i < 2; i++) {
            ticker.advance(Duration.ofMillis(999));
            // another instance takes the permit as soon as it is there
            store.reset(ONE, "a");
            assertThat(store.tryCharge(ONE.charge("a"))).isTrue();
        }
        assertThat(waiting.isDone()).isFalse();

        ticker.advance(Duration.ofMillis(600));

        assertThat(refused(waiting)).isTrue();
        assertThat(queue.waiting("one")).isZero();
    }

    @Test
    void severalPolicies_waitForTheLongest_andMoveToAnotherLine() {
        RateLimitQueue queue = RateLimitQueue.builder(store)
                .ticker(ticker)
                .policy("one", Waiting.of(Duration.ofSeconds(60), 10))
                .policy("other", Waiting.of(Duration.ofSeconds(60), 10))
                .build();
        ask(queue, ONE.charge("a"), OTHER.charge("x"));
        CompletableFuture<Decision> both = ask(queue, ONE.charge("a"), OTHER.charge("x"));
        assertThat(queue.waiting("other")).isEqualTo(1);
        CompletableFuture<Decision> alone = ask(queue, ONE.charge("a"));

        ticker.advance(Duration.ofSeconds(1));
        assertThat(admitted(alone)).isTrue();
        ticker.advance(Duration.ofSeconds(9));
        assertThat(admitted(both)).isTrue();
        assertThat(queue.waiting("one")).isZero();
        assertThat(queue.waiting("other")).isZero();
    }

    @Test
    void policyWithoutWaiting_refusesAtOnce() {
        RateLimitQueue queue = queue(ONE, Duration.ofSeconds(60), 10);
        ask(queue, ONE.charge("a"), OTHER.charge("x"));

        assertThat(refused(ask(queue, ONE.charge("a"), OTHER.charge("x")))).isTrue();
        assertThat(refused(ask(queue, ONE.charge("a", 2))))
                .as("can never be admitted")
                .isTrue();
    }

    @Test
    void concurrency_isServedWhenAPermitIsRefunded() {
        Policy slots = Policy.of("slots", Concurrency.of(1));
        RateLimitQueue queue = queue(slots, Duration.ofSeconds(60), 10);
        CompletableFuture<Decision> first = ask(queue, slots.charge("a"));
        CompletableFuture<Decision> second = ask(queue, slots.charge("a"));
        ticker.advance(Duration.ofMillis(10));

        store.refund(first.join());
        queue.wake(slots, "a");

        assertThat(admitted(second)).isTrue();
        ask(queue, slots.charge("a"));
        store.refund(second.join());
        ticker.advance(Duration.ofSeconds(1));
        assertThat(countAdmitted()).as("asked again after a second").isEqualTo(3);
    }

    @Test
    void storeThatFails_completesExceptionally_andTheNextIsServed() {
        RateLimitQueue queue = queue(ONE, Duration.ofSeconds(60), 10);
        ask(queue, ONE.charge("a"));
        boolean[] fails = {false};
        List<Charge> charges = List.of(ONE.charge("a"));
        CompletableFuture<Decision> failing = queue.acquire(charges, () -> {
            if (fails[0]) {
                throw new IllegalStateException("on purpose");
            }
            fails[0] = true;
            return store.decide(charges);
        });
        CompletableFuture<Decision> next = ask(queue, ONE.charge("a"));

        ticker.advance(Duration.ofSeconds(1));

        assertThat(failing.isCompletedExceptionally()).isTrue();
        assertThat(admitted(next)).isTrue();
    }

    @Test
    void close_refusesWhoeverWaits() {
        RateLimitQueue queue = queue(ONE, Duration.ofSeconds(60), 10);
        ask(queue, ONE.charge("a"));
        CompletableFuture<Decision> waiting = ask(queue, ONE.charge("a"));

        queue.close();

        assertThat(refused(waiting)).isTrue();
        assertThat(refused(ask(queue, ONE.charge("a")))).isTrue();
    }

    @Test
    void waiting_outOfRange_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Waiting.of(Duration.ofSeconds(-1), 1))
                .withMessage("maxWait must be from 0 to 1 day but was PT-1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Waiting.of(Duration.ofSeconds(1), -1))
                .withMessage("maxWaiting must be at least 0 but was -1");
    }

    /** Whatever happens, in random order: nobody is forgotten, nobody is served twice, and no limit is exceeded. */
    @Test
    void randomHistories_leaveNobodyBehind() {
        for (int history = 0; history < 300; history++) {
            Random random = new Random(history);
            Policy window = Policy.of("window" + history, FixedWindow.of(Rate.parse("3/second")));
            Policy bucket = Policy.of("bucket" + history, TokenBucket.of(Rate.parse("5/second")));
            Order order = random.nextBoolean() ? Order.OLDEST_FIRST : Order.NEWEST_FIRST;
            RateLimitQueue queue = RateLimitQueue.builder(store)
                    .ticker(ticker)
                    .policy(window.name(), new Waiting(Duration.ofSeconds(2), 8, order))
                    .policy(bucket.name(), new Waiting(Duration.ofSeconds(3), 5, order))
                    .build();
            Map<CompletableFuture<Decision>, Long> answers = new HashMap<>();
            for (int step = 0; step < 60; step++) {
                switch (random.nextInt(4)) {
                    case 0 -> ticker.advance(Duration.ofMillis(random.nextInt(700)));
                    case 1 ->
                        answers.keySet().stream()
                                .skip(random.nextInt(answers.size() + 1))
                                .findFirst()
                                .ifPresent(one -> one.cancel(false));
                    default -> {
                        String key = "k" + random.nextInt(3);
                        Charge[] charges = random.nextBoolean()
                                ? new Charge[] {window.charge(key)}
                                : new Charge[] {window.charge(key), bucket.charge("")};
                        answers.put(queue.acquire(charges), ticker.nanos());
                    }
                }
                long waiting =
                        answers.keySet().stream().filter(one -> !one.isDone()).count();
                assertThat(queue.waiting(window.name()) + queue.waiting(bucket.name()))
                        .as("history " + history)
                        .isEqualTo((int) waiting);
                assertThat(queue.waiting(window.name())).isLessThanOrEqualTo(8);
                assertThat(queue.waiting(bucket.name())).isLessThanOrEqualTo(5);
            }
            IntStream.range(0, 40).forEach(i -> ticker.advance(Duration.ofMillis(100)));
            assertThat(answers.keySet()).as("history " + history).allMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void wake_whileTheStoreRefuses_isNotLost() {
        Policy slot = Policy.of("slot", Concurrency.of(1));
        RateLimitQueue queue = queue(slot, Duration.ofMinutes(1), 10);
        Decision held = store.decide(List.of(slot.charge()));

        // the permit comes back just after the store has refused, before the caller is in line
        ask(queue, List.of(slot.charge()), () -> {
            Decision decision = store.decide(List.of(slot.charge()));
            if (!decision.admitted()) {
                store.refund(held);
                queue.wake(slot, "");
            }
            return decision;
        });

        ticker.advance(Duration.ZERO);
        assertThat(countAdmitted()).isEqualTo(1);
    }

    @Test
    void wake_whileTheStoreRefusesTheHead_isNotLost() {
        Policy slot = Policy.of("slot", Concurrency.of(1));
        RateLimitQueue queue = queue(slot, Duration.ofMinutes(1), 10);
        Decision held = store.decide(List.of(slot.charge()));
        AtomicInteger refusals = new AtomicInteger();
        ask(queue, List.of(slot.charge()), () -> {
            Decision decision = store.decide(List.of(slot.charge()));
            if (!decision.admitted() && refusals.incrementAndGet() == 2) {
                store.refund(held);
                queue.wake(slot, "");
            }
            return decision;
        });

        queue.wake(slot, "");

        assertThat(countAdmitted()).isEqualTo(1);
    }

    @Test
    void severalLimits_morePermitsAreWaitedForThanTheSmallestHas_allAreServed() {
        Policy two = new Policy(
                "two", List.of(TokenBucket.of(Rate.parse("5/second")), TokenBucket.of(Rate.parse("100/minute"))));
        RateLimitQueue queue = queue(two, Duration.ofSeconds(10), 20);

        for (int i = 0; i < 20; i++) {
            ask(queue, two.charge());
        }
        ticker.advance(Duration.ofSeconds(3));

        assertThat(countAdmitted()).isEqualTo(20);
    }

    @Test
    void severalLimits_theOneThatAdmitsIsSlow_theHeadWaitsForTheOther() {
        Policy two = new Policy(
                "two", List.of(TokenBucket.of(Rate.parse("1/second")), TokenBucket.of(Rate.parse("10/hour"))));
        RateLimitQueue queue = queue(two, Duration.ofSeconds(10), 20);

        ask(queue, two.charge());
        ask(queue, two.charge());
        ask(queue, two.charge());
        ticker.advance(Duration.ofSeconds(2));

        assertThat(countAdmitted()).isEqualTo(3);
    }
}
