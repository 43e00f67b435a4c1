package dev.ratelimit.queue;

import static dev.ratelimit.queue.QueueScene.admitted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Permits that come back before their time. */
@SuppressWarnings("FutureReturnValueIgnored") // those whose answers do not matter
class RateLimitQueueWakeTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(1));
    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("1/hour")));
    private static final Policy FASTER = Policy.of("one", TokenBucket.of(Rate.parse("2/second")));

    /** What is used under one limit is used under the other, too. */
    private static final Duration HALF_A_SECOND = Duration.ofMillis(500);

    private static QueueScene scene(Policy policy) {
        return new QueueScene(policy.name(), Waiting.of(Duration.ofHours(2), 100));
    }

    @Test
    void permitsOfOneWhoHasLeft_goToTheNext() {
        try (QueueScene scene = scene(SLOTS)) {
            CompletableFuture<Decision> holder = scene.ask(SLOTS.charge("k"));
            CompletableFuture<Decision> leaving = scene.ask(SLOTS.charge("k"));
            CompletableFuture<Decision> next = scene.ask(SLOTS.charge("k"));
            scene.onDecision = decision -> leaving.cancel(false);

            scene.release(holder);

            assertThat(leaving).isCancelled();
            assertThat(admitted(next)).isTrue();
        }
    }

    /** They come back for a budget that the next one in this line does not need. */
    @Test
    void permitsOfOneWhoHasLeft_goToOthersWhoWaitForThem() {
        try (QueueScene scene = new QueueScene(Map.of(
                "slots", Waiting.of(Duration.ofHours(2), 100),
                "one", Waiting.of(Duration.ofHours(2), 100)))) {
            CompletableFuture<Decision> holder = scene.ask(SLOTS.charge("k"));
            CompletableFuture<Decision> leaving = scene.ask(SLOTS.charge("k"), ONE.charge("k"));
            CompletableFuture<Decision> waiting = new CompletableFuture<>();
            scene.onDecision = decision -> {
                scene.onDecision = any -> {};
                scene.ask(ONE.charge("k")).thenAccept(waiting::complete);
                leaving.cancel(false);
            };
            assertThat(scene.queue.waiting("slots")).isEqualTo(1);

            scene.release(holder);
            scene.advance(Duration.ZERO);

            assertThat(admitted(waiting)).isTrue();
        }
    }

    @Test
    void changeOfLimits_isFeltByThoseWhoWait() {
        try (QueueScene scene = scene(ONE)) {
            List<Charge> former = List.of(ONE.charge("k"));
            List<Charge> changed = new ArrayList<>(former);
            scene.store.decide(former);
            CompletableFuture<Decision> waiting =
                    scene.queue.acquire(former, () -> scene.store.decide(List.copyOf(changed)));
            changed.set(0, FASTER.charge("k"));
            assertThat(waiting).isNotDone();

            scene.queue.wake("one");
            scene.advance(HALF_A_SECOND);

            assertThat(admitted(waiting)).isTrue();
        }
    }

    /** Between the question of a newcomer and its place in the line. */
    @Test
    void changeOfLimits_whileTheStoreRefuses_isNotLost() {
        try (QueueScene scene = scene(ONE)) {
            List<Charge> changed = new ArrayList<>(List.of(ONE.charge("k")));
            scene.store.decide(List.copyOf(changed));
            scene.onDecision = decision -> {
                if (changed.set(0, FASTER.charge("k")).policy().equals(ONE)) {
                    scene.queue.wake("one");
                }
            };

            CompletableFuture<Decision> waiting =
                    scene.queue.acquire(List.copyOf(changed), () -> scene.store.decide(List.copyOf(changed)));
            scene.advance(HALF_A_SECOND);

            assertThat(admitted(waiting)).isTrue();
        }
    }

    /** While the head is asked for. */
    @Test
    void changeOfLimits_whileTheStoreRefusesTheHead_isNotLost() {
        try (QueueScene scene = scene(ONE)) {
            List<Charge> changed = new ArrayList<>(List.of(ONE.charge("k")));
            scene.store.decide(List.copyOf(changed));
            CompletableFuture<Decision> waiting =
                    scene.queue.acquire(List.copyOf(changed), () -> scene.store.decide(List.copyOf(changed)));
            scene.onDecision = decision -> {
                if (changed.set(0, FASTER.charge("k")).policy().equals(ONE)) {
                    scene.queue.wake("one");
                }
            };

            scene.queue.wake("one");
            scene.advance(HALF_A_SECOND);

            assertThat(admitted(waiting)).isTrue();
        }
    }
}
