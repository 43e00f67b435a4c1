package dev.ratelimit.queue;

import static dev.ratelimit.queue.QueueScene.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.queue.RateLimitQueue.Order;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What those are told who do not get their permits. */
@SuppressWarnings("FutureReturnValueIgnored") // those whose answers do not matter
class RateLimitQueueRefusalTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("1/second")));
    private static final Policy TEN = Policy.of("ten", FixedWindow.of(Rate.parse("10/10s")));
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(2));
    private static final Policy FREE = Policy.of("free", TokenBucket.of(Rate.parse("100/second")));

    private static Waiting upTo(Duration maxWait, int maxWaiting) {
        return Waiting.of(maxWait, maxWaiting);
    }

    private static Duration retryAfter(CompletableFuture<Decision> answer) {
        return Duration.ofNanos(answer.join().retryAfterNanos());
    }

    private static void assertRefusedFor(CompletableFuture<Decision> answer, Charge... asked) {
        assertThat(refused(answer)).isTrue();
        assertThat(answer.join().charges()).containsExactly(asked);
        assertThat(answer.join().violated()).isNotEmpty();
        assertThat(answer.join().retryAfterNanos()).isPositive().isLessThan(LimitAlgorithm.NEVER);
        assertThat(answer.join().receipt()).isNull();
    }

    @Test
    void refusalAtOnce_tellsTheWaitBehindThoseAhead() {
        try (QueueScene scene = new QueueScene("one", upTo(Duration.ofSeconds(3), 10))) {
            scene.ask(4, ONE.charge("k"));

            CompletableFuture<Decision> refused = scene.ask(ONE.charge("k"));

            assertThat(retryAfter(refused)).isEqualTo(Duration.ofSeconds(4));
        }
    }

    @Test
    void refusalWithoutRoom_tellsTheWaitBehindThoseAhead() {
        try (QueueScene scene = new QueueScene("one", upTo(Duration.ofSeconds(60), 3))) {
            scene.ask(4, ONE.charge("k"));

            CompletableFuture<Decision> refused = scene.ask(ONE.charge("k"));

            assertThat(retryAfter(refused)).isEqualTo(Duration.ofSeconds(4));
        }
    }

    /** With those ahead, its permits take too long; the permits of its own would be there. */
    @Test
    void refusalBehindOthers_isOfTheOwnCharges() {
        try (QueueScene scene = new QueueScene("ten", upTo(Duration.ofSeconds(10), 10))) {
            scene.ask(TEN.charge("k", 4));
            scene.ask(TEN.charge("k", 7));

            CompletableFuture<Decision> refused = scene.ask(FREE.charge("k", 3), TEN.charge("k", 4));

            assertRefusedFor(refused, FREE.charge("k", 3), TEN.charge("k", 4));
            assertThat(refused.join().limits()).hasSize(2);
            assertThat(retryAfter(refused)).isEqualTo(Duration.ofSeconds(11));
        }
    }

    @Test
    void refusalOfOneWhosePermitsWereThere_sometimeAfterTheStoreWasAsked_isStillARefusal() {
        try (QueueScene scene = new QueueScene("slots", upTo(Duration.ofSeconds(9), 2))) {
            scene.ask(SLOTS.charge("k"));
            scene.ask(SLOTS.charge("k", 2));
            CompletableFuture<Decision> behind = scene.ask(FREE.charge("k"), SLOTS.charge("k"));
            CompletableFuture<Decision> noRoom = scene.ask(FREE.charge("k"), SLOTS.charge("k"));

            scene.queue.close();

            assertRefusedFor(behind, FREE.charge("k"), SLOTS.charge("k"));
            assertRefusedFor(noRoom, FREE.charge("k"), SLOTS.charge("k"));
        }
    }

    @Test
    void displaced_isToldTheTimesFromThenOn() {
        Waiting newest = new Waiting(Duration.ofSeconds(60), 1, Order.NEWEST_FIRST);
        try (QueueScene scene = new QueueScene("ten", newest)) {
            scene.ask(TEN.charge("k", 10));
            CompletableFuture<Decision> displaced = scene.ask(TEN.charge("k"));
            scene.advance(Duration.ofSeconds(4));

            scene.ask(1, TEN.charge("k"));

            assertThat(retryAfter(displaced)).isEqualTo(Duration.ofSeconds(6));
            assertThat(displaced.join().limits().get(0).fullAfter()).isEqualTo(Duration.ofSeconds(6));
        }
    }

    @Test
    void expired_isToldTheTimesFromThenOn() {
        try (QueueScene scene = new QueueScene("slots", upTo(Duration.ofSeconds(5), 10))) {
            CompletableFuture<Decision> holder = scene.ask(SLOTS.charge("k", 2));
            List<CompletableFuture<Decision>> waiting = scene.ask(2, SLOTS.charge("k"));

            scene.advance(Duration.ofSeconds(6));

            assertThat(holder).isCompleted();
            assertThat(waiting).allSatisfy(answer -> {
                assertRefusedFor(answer, SLOTS.charge("k"));
                assertThat(retryAfter(answer)).isEqualTo(Concurrency.MAX_RETRY);
            });
            assertThat(waiting.get(1).join().limits().get(0).fullAfter())
                    .isEqualTo(Concurrency.DEFAULT_MAX_HOLD.minusSeconds(5));
        }
    }

    @Test
    void expired_othersCameFirst_isToldWhenTheNextPermitComes() {
        Policy slow = Policy.of("slow", FixedWindow.of(Rate.parse("1/5s")));
        Waiting newest = new Waiting(Duration.ofMillis(5_100), 10, Order.NEWEST_FIRST);
        try (QueueScene scene = new QueueScene("slow", newest)) {
            scene.ask(slow.charge("k"));
            CompletableFuture<Decision> oldest = scene.ask(slow.charge("k"));
            scene.advance(Duration.ofMillis(4_950));
            scene.ask(2, slow.charge("k"));

            scene.advance(Duration.ofMillis(200));

            assertThat(refused(oldest)).isTrue();
            assertThat(retryAfter(oldest)).isBetween(Duration.ofMillis(4_800), Duration.ofMillis(4_900));
        }
    }

    @Test
    void refusedAgainAtTheHead_isToldItsOwnWaitAlone() {
        Policy slow = Policy.of("slow", TokenBucket.of(Rate.parse("1/10s")));
        try (QueueScene scene = new QueueScene("slow", upTo(Duration.ofSeconds(60), 10))) {
            scene.ask(slow.charge("k"));
            CompletableFuture<Decision> ahead = scene.ask(slow.charge("k"));
            CompletableFuture<Decision> waiting = scene.ask(slow.charge("k"));
            ahead.cancel(false);
            scene.advance(Duration.ofSeconds(2));
            scene.queue.wake("slow");
            scene.advance(Duration.ofSeconds(1));

            scene.queue.close();

            assertThat(retryAfter(waiting)).isEqualTo(Duration.ofSeconds(7));
        }
    }

    @Test
    void storeThatTellsNoStatus_isCompleted() {
        Charge charge = SLOTS.charge("k");
        Decision silent = new Decision(true, List.of(charge), List.of(), null);

        Decision refusal = Refusal.of(silent, 0, charge, 7);

        assertThat(refusal.admitted()).isFalse();
        assertThat(refusal.retryAfterNanos()).isEqualTo(7);
        assertThat(refusal.violated()).hasSize(1);
    }

    @Test
    void questionForNoPermits_doesNotWaitBehindOthers() {
        try (QueueScene scene = new QueueScene("ten", upTo(Duration.ofSeconds(60), 10))) {
            scene.ask(TEN.charge("k", 9));
            scene.ask(TEN.charge("k", 5));

            CompletableFuture<Decision> question = scene.ask(TEN.charge("k", 0));

            assertThat(question).isCompletedWithValueMatching(Decision::admitted);
        }
    }
}
