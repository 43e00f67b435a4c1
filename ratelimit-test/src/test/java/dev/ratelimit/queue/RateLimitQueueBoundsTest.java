package dev.ratelimit.queue;

import static dev.ratelimit.queue.QueueScene.admitted;
import static dev.ratelimit.queue.QueueScene.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may wait, for how long, and how many. */
@SuppressWarnings("FutureReturnValueIgnored") // those whose answers do not matter
class RateLimitQueueBoundsTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("1/second")));
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(2));

    @Test
    void ownWaitThatIsTooLong_isRefusedAtOnce_alsoAtTheHead() {
        try (QueueScene scene = new QueueScene("bucket", Waiting.of(Duration.ofSeconds(2), 10))) {
            Policy bucket = Policy.of("bucket", TokenBucket.of(Rate.parse("5/5s")));
            scene.ask(bucket.charge("k", 5));

            assertThat(refused(scene.ask(bucket.charge("k", 3)))).isTrue();
            assertThat(scene.ask(bucket.charge("k", 2))).isNotDone();
        }
    }

    @Test
    void maxWait_thatIsChanged_isThatOfNewcomers_andThoseWhoWaitKeepTheirs() {
        try (QueueScene scene = new QueueScene("one", Waiting.of(Duration.ofSeconds(3), 100))) {
            scene.ask(ONE.charge("k"));
            List<CompletableFuture<Decision>> waiting = scene.ask(3, ONE.charge("k"));

            scene.queue.maxWait("one", Duration.ofSeconds(4));
            waiting.add(scene.ask(ONE.charge("k")));
            scene.queue.maxWait("one", Duration.ofSeconds(1));

            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            assertThat(refused(scene.ask(ONE.charge("k")))).isTrue();
            scene.ticker.advance(Duration.ofSeconds(4));
            assertThat(waiting).allMatch(CompletableFuture::isDone);
            assertThat(waiting).allMatch(one -> admitted(one));
            assertThatIllegalArgumentException().isThrownBy(() -> scene.queue.maxWait("two", Duration.ofSeconds(1)));
            assertThatIllegalArgumentException().isThrownBy(() -> scene.queue.maxWait("one", Duration.ofDays(2)));
        }
    }

    /** It would take the place of somebody for nothing. */
    @Test
    void ownWaitThatIsTooLong_displacesNobody() {
        try (QueueScene scene = new QueueScene("bucket", Waiting.of(Duration.ofSeconds(4), 3))) {
            Policy bucket = Policy.of("bucket", TokenBucket.of(Rate.parse("5/5s")));
            scene.ask(bucket.charge("a", 5));
            scene.ask(bucket.charge("b", 5));
            List<CompletableFuture<Decision>> waiting = scene.ask(3, bucket.charge("a"));

            assertThat(refused(scene.ask(bucket.charge("b", 5)))).isTrue();

            assertThat(waiting).noneMatch(CompletableFuture::isDone);
        }
    }

    /** The larger limit still has some of the permits, and the next one in a quarter of an hour: that one is enough. */
    @Test
    void waitBehindOthers_forALargerLimit_isThatOfItsNextPermit() {
        try (QueueScene scene = new QueueScene("two", Waiting.of(Duration.ofMinutes(20), 10))) {
            Policy two = Policy.of("two", TokenBucket.of(Rate.parse("2/second")), TokenBucket.of(Rate.parse("4/hour")));
            scene.ask(two.charge("k", 2));

            List<CompletableFuture<Decision>> waiting = scene.ask(3, two.charge("k"));

            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            scene.advance(Duration.ofMinutes(15));
            assertThat(waiting).allMatch(one -> admitted(one));
        }
    }

    /** They wait for those who hold the permits, and not for a rate. */
    @Test
    void permitsOfAConcurrencyLimit_areNotExpectedEvenly() {
        try (QueueScene scene = new QueueScene("slots", Waiting.of(Duration.ofSeconds(5), 100))) {
            scene.ask(2, SLOTS.charge("k"));

            assertThat(scene.ask(50, SLOTS.charge("k"))).noneMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void permitsAhead_decreaseWhenSomebodyLeaves() {
        try (QueueScene scene = new QueueScene("one", Waiting.of(Duration.ofSeconds(3), 100))) {
            scene.ask(ONE.charge("k"));
            List<CompletableFuture<Decision>> waiting = scene.ask(3, ONE.charge("k"));
            assertThat(refused(scene.ask(ONE.charge("k")))).isTrue();

            waiting.get(1).cancel(false);
            CompletableFuture<Decision> next = scene.ask(ONE.charge("k"));

            assertThat(next).isNotDone();
            scene.advance(Duration.ofSeconds(3));
            assertThat(admitted(next)).isTrue();
        }
    }

    /** The permits ahead are those of all who wait, also if they are more than a long. */
    @Test
    void permitsAhead_beyondALong_areStillAWait() {
        Policy huge = Policy.of("huge", FixedWindow.of(Rate.of(Long.MAX_VALUE, Duration.ofSeconds(1))));
        try (QueueScene scene = new QueueScene("huge", Waiting.of(Duration.ofSeconds(3), 100))) {
            scene.ask(huge.charge("k", Long.MAX_VALUE));
            CompletableFuture<Decision> second = scene.ask(huge.charge("k", Long.MAX_VALUE));
            CompletableFuture<Decision> third = scene.ask(huge.charge("k", Long.MAX_VALUE));
            CompletableFuture<Decision> fourth = scene.ask(huge.charge("k", 5));
            assertThat(third).isNotDone();
            assertThat(fourth).isNotDone();

            scene.advance(Duration.ofSeconds(1));
            assertThat(admitted(second)).isTrue();
            scene.advance(Duration.ofSeconds(1));
            assertThat(admitted(third)).isTrue();
            scene.advance(Duration.ofSeconds(1));
            assertThat(admitted(fourth)).isTrue();
        }
    }

    @Test
    void newestFirst_newcomerOfALine_displacesTheOldestOfThatLine() {
        Waiting newest = new Waiting(Duration.ofSeconds(60), 4, Order.NEWEST_FIRST);
        try (QueueScene scene = new QueueScene("one", newest)) {
            scene.ask(ONE.charge("a"));
            scene.ask(ONE.charge("b"));
            List<CompletableFuture<Decision>> a = scene.ask(2, ONE.charge("a"));
            List<CompletableFuture<Decision>> b = scene.ask(2, ONE.charge("b"));

            CompletableFuture<Decision> newcomer = scene.ask(ONE.charge("b"));

            assertThat(newcomer).isNotDone();
            assertThat(refused(b.get(0))).isTrue();
            assertThat(a).noneMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void newestFirst_newcomerOfAnEmptyLine_displacesSomebodyElse() {
        Waiting newest = new Waiting(Duration.ofSeconds(60), 2, Order.NEWEST_FIRST);
        try (QueueScene scene = new QueueScene("one", newest)) {
            for (String key : List.of("a", "b", "c")) {
                scene.ask(ONE.charge(key));
            }
            List<CompletableFuture<Decision>> former = List.of(scene.ask(ONE.charge("a")), scene.ask(ONE.charge("b")));

            CompletableFuture<Decision> newcomer = scene.ask(ONE.charge("c"));

            assertThat(newcomer).isNotDone();
            assertThat(former).filteredOn(QueueScene::refused).hasSize(1);
        }
    }

    @Test
    void longestLine_amongMany_makesRoom() {
        int[] lengths = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
        try (QueueScene scene = new QueueScene("one", Waiting.of(Duration.ofHours(1), 80))) {
            int waiting = 0;
            for (int line = 0; line < lengths.length; line++) {
                scene.ask(ONE.charge("k" + line));
                waiting += scene.ask(lengths[line], ONE.charge("k" + line)).size();
            }
            assertThat(scene.queue.waiting("one")).isEqualTo(waiting).isEqualTo(80);

            // newcomers with lines of their own take one place after another, always in the longest line
            for (int longest = 9; longest > 6; longest--) {
                int many = longest;
                long lines =
                        IntStream.of(lengths).filter(length -> length >= many).count();
                for (int i = 0; i < lines; i++) {
                    String key = "new" + longest + i;
                    scene.ask(ONE.charge(key));
                    assertThat(scene.ask(ONE.charge(key))).isNotDone();
                }
            }

            assertThat(scene.queue.waiting("one")).isEqualTo(80);
        }
    }

    @Test
    void alarmsOfThoseWhoLeave_areCancelled() {
        try (QueueScene scene = new QueueScene("one", Waiting.of(Duration.ofHours(1), 100))) {
            scene.ask(ONE.charge("k"));
            List<CompletableFuture<Decision>> waiting = scene.ask(50, ONE.charge("k"));
            int all = scene.ticker.alarms();

            waiting.forEach(one -> one.cancel(false));

            assertThat(all).isGreaterThan(50);
            assertThat(scene.ticker.alarms()).as("but for that of the store").isEqualTo(1);
        }
    }

    /** Runs a task once, while it sets an alarm. */
    private record Interrupted(FakeTicker ticker, AtomicInteger until, Runnable task) implements Scheduler {

        @Override
        public Alarm schedule(Runnable rings, long delayNanos) {
            if (until.decrementAndGet() == 0) {
                task.run();
            }
            return ticker.schedule(rings, delayNanos);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void alarm_thatIsSetWhileItsCallerLeaves_isCancelled(int number) {
        FakeTicker ticker = new FakeTicker();
        RateLimitStore store = InMemoryStore.builder().ticker(ticker).build();
        List<RateLimitQueue> open = new ArrayList<>();
        AtomicInteger until = new AtomicInteger(number);
        RateLimitQueue queue = RateLimitQueue.builder(store)
                .policy("one", Waiting.of(Duration.ofHours(1), 100))
                .ticker(ticker)
                .scheduler(new Interrupted(ticker, until, () -> open.forEach(RateLimitQueue::close)))
                .build();
        open.add(queue);
        queue.acquire(ONE.charge("k"));

        CompletableFuture<Decision> waiting = queue.acquire(ONE.charge("k"));

        assertThat(refused(waiting)).isTrue();
        assertThat(until).hasNonPositiveValue();
        assertThat(ticker.alarms()).as("but for that of the store").isEqualTo(1);
    }

    @Test
    void alarmsOfThoseWhoAreServed_areCancelled() {
        try (QueueScene scene = new QueueScene("one", Waiting.of(Duration.ofHours(1), 100))) {
            List<CompletableFuture<Decision>> waiting = scene.ask(6, ONE.charge("k"));

            scene.advance(Duration.ofSeconds(5));

            assertThat(waiting).allMatch(QueueScene::admitted);
            assertThat(scene.ticker.alarms()).as("but for that of the store").isEqualTo(1);
        }
    }
}
