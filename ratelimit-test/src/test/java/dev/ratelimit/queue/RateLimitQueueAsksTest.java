package dev.ratelimit.queue;

import static dev.ratelimit.queue.QueueScene.admitted;
import static dev.ratelimit.queue.QueueScene.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** How often the store is asked: each question is a command, if it is on a server. */
@SuppressWarnings("FutureReturnValueIgnored") // those whose answers do not matter
class RateLimitQueueAsksTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("1/second")));
    private static final Policy WINDOW = Policy.of("window", FixedWindow.of(Rate.parse("1000/10s")));
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(1));

    private static QueueScene scene(Policy policy, Duration maxWait) {
        return new QueueScene(policy.name(), Waiting.of(maxWait, 10_000));
    }

    @Test
    void callersBehindTheHead_whoLeave_doNotMakeItAskAgain() {
        try (QueueScene scene = scene(ONE, Duration.ofHours(1))) {
            scene.ask(2, ONE.charge("k"));
            List<CompletableFuture<Decision>> behind = scene.ask(500, ONE.charge("k"));
            scene.decisions = 0;

            Collections.reverse(behind);
            behind.forEach(one -> one.cancel(false));

            assertThat(scene.decisions).isZero();
            assertThat(scene.queue.waiting("one")).isEqualTo(1);
        }
    }

    @Test
    void heads_whoLeave_doNotMakeTheNextOneAskBeforeItIsDue() {
        try (QueueScene scene = scene(ONE, Duration.ofHours(1))) {
            scene.ask(1, ONE.charge("k"));
            List<CompletableFuture<Decision>> heads = scene.ask(500, ONE.charge("k"));
            CompletableFuture<Decision> last = scene.ask(ONE.charge("k"));
            scene.decisions = 0;

            heads.forEach(one -> one.cancel(false));
            assertThat(scene.decisions).isZero();
            scene.advance(Duration.ofSeconds(1));

            assertThat(scene.decisions).isEqualTo(1);
            assertThat(admitted(last)).isTrue();
        }
    }

    /** At the end of the window, another instance takes all permits that a thousand callers wait for. */
    @Test
    void refusalOfTheHead_isOneForAllBehindItWhoCannotBeServedInTime() {
        try (QueueScene scene = scene(WINDOW, Duration.ofSeconds(12))) {
            List<Charge> all = List.of(WINDOW.charge("k", 1_000));
            scene.store.decide(all);
            scene.ticker.schedule(
                    () -> {
                        scene.store.decide(all);
                        scene.decisions = 0;
                    },
                    Duration.ofSeconds(10).toNanos());
            scene.advance(Duration.ofSeconds(1));
            List<CompletableFuture<Decision>> early = scene.ask(1_000, WINDOW.charge("k"));
            scene.advance(Duration.ofSeconds(8));
            List<CompletableFuture<Decision>> late = scene.ask(5, WINDOW.charge("k"));

            scene.advance(Duration.ofSeconds(1));

            assertThat(scene.decisions).isEqualTo(1);
            assertThat(early).allSatisfy(answer -> {
                assertThat(refused(answer)).isTrue();
                assertThat(answer.join().retryAfter()).isEqualTo(Duration.ofSeconds(10));
            });
            scene.advance(Duration.ofSeconds(10));
            assertThat(late).allMatch(QueueScene::admitted);
            assertThat(scene.decisions).isEqualTo(6);
        }
    }

    @Test
    void admissionOfTheHead_tellsWhenTheNextOneIsDue() {
        try (QueueScene scene = scene(ONE, Duration.ofHours(1))) {
            List<CompletableFuture<Decision>> answers = scene.ask(11, ONE.charge("k"));
            scene.decisions = 0;

            scene.advance(Duration.ofSeconds(10));

            assertThat(answers).allMatch(QueueScene::admitted);
            assertThat(scene.decisions).isEqualTo(10);
        }
    }

    /** What the store has said to somebody who wants more says nothing about those who want less. */
    @Test
    void callerBehind_whoWantsLess_isAskedForWhenTheHeadLeaves() {
        try (QueueScene scene = new QueueScene("bucket", Waiting.of(Duration.ofHours(1), 10))) {
            Policy bucket = Policy.of("bucket", TokenBucket.of(Rate.parse("4/hour")));
            scene.ask(bucket.charge("k", 2));
            CompletableFuture<Decision> head = scene.ask(bucket.charge("k", 4));
            CompletableFuture<Decision> same = scene.ask(bucket.charge("k", 4));
            CompletableFuture<Decision> less = scene.ask(bucket.charge("k", 2));
            same.cancel(false);

            head.cancel(false);

            assertThat(admitted(less)).isTrue();
        }
    }

    /** One limit refuses it, and another one would admit it. */
    @Test
    void callerBehind_whoIsRefusedByTheSameLimit_isNotAskedForWhenTheHeadLeaves() {
        Policy two = Policy.of("two", TokenBucket.of(Rate.parse("1/second")), FixedWindow.of(Rate.parse("100/hour")));
        try (QueueScene scene = scene(two, Duration.ofHours(1))) {
            List<CompletableFuture<Decision>> waiting = scene.ask(4, two.charge("k"));
            scene.advance(Duration.ofSeconds(1));
            scene.decisions = 0;

            waiting.get(2).cancel(false);

            assertThat(scene.decisions).isZero();
        }
    }

    @Test
    void headWhoCannotBeServedInTime_isRefusedWhenThatIsKnown() {
        try (QueueScene scene = scene(ONE, Duration.ofMillis(1_500))) {
            scene.ask(ONE.charge("k"));
            CompletableFuture<Decision> waiting = scene.ask(ONE.charge("k"));
            scene.advance(Duration.ofMillis(999));
            scene.store.reset(ONE, "k");
            scene.store.decide(List.of(ONE.charge("k")));

            scene.advance(Duration.ofMillis(1));

            assertThat(refused(waiting)).isTrue();
        }
    }

    @Test
    void refusalAtTheDeadline_isOneForAllWhoseTimeIsOver() {
        try (QueueScene scene = scene(SLOTS, Duration.ofMillis(500))) {
            scene.ask(SLOTS.charge("k"));
            List<CompletableFuture<Decision>> waiting = scene.ask(100, SLOTS.charge("k"));
            scene.decisions = 0;

            scene.advance(Duration.ofMillis(500));

            assertThat(waiting).allMatch(QueueScene::refused);
            assertThat(scene.decisions).isEqualTo(1);
        }
    }

    @Test
    void wakeInVain_isOneQuestion() {
        try (QueueScene scene = scene(SLOTS, Duration.ofHours(1))) {
            scene.ask(2, SLOTS.charge("k"));
            scene.decisions = 0;

            scene.queue.wake(SLOTS, "k");

            assertThat(scene.decisions).isEqualTo(1);
        }
    }

    @Test
    void wakeOfAnotherKeyOrPolicy_isNoQuestion() {
        try (QueueScene scene = scene(SLOTS, Duration.ofHours(1))) {
            scene.ask(2, SLOTS.charge("k"));
            scene.decisions = 0;

            scene.queue.wake(SLOTS, "other");
            scene.queue.wake(ONE, "k");
            scene.queue.wake("one");

            assertThat(scene.decisions).isZero();
        }
    }

    @Test
    void wakeOfThePolicy_isOneQuestionForEachLine() {
        try (QueueScene scene = scene(SLOTS, Duration.ofHours(1))) {
            for (String key : List.of("a", "b", "c")) {
                scene.ask(3, SLOTS.charge(key));
            }
            scene.decisions = 0;

            scene.queue.wake("slots");

            assertThat(scene.decisions).isEqualTo(3);
        }
    }

    /** Newcomers who are served first tell the line when to ask next. */
    @Test
    void newestFirst_newcomerWhoIsRefused_isAskedForWhenItIsDue() {
        Waiting newest = new Waiting(Duration.ofHours(1), 10, Order.NEWEST_FIRST);
        try (QueueScene scene = new QueueScene("one", newest)) {
            scene.ask(ONE.charge("k"));
            List<CompletableFuture<Decision>> waiting = scene.ask(5, ONE.charge("k"));
            scene.decisions = 0;

            scene.advance(Duration.ofMillis(999));
            assertThat(scene.decisions).isZero();
            scene.advance(Duration.ofMillis(1));

            assertThat(scene.decisions).isEqualTo(1);
            assertThat(admitted(waiting.get(4))).isTrue();
        }
    }
}
