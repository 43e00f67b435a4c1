package dev.ratelimit.queue;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls so deep in a recursion that the stack ends within them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("nightly")
class RateLimitQueueDeepStackTest {

    private static final Policy ONE = Policy.of("one", TokenBucket.of(Rate.parse("1/second")));
    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(1));
    private static final int WARM = 300;
    private static final int DEPTHS = 60;
    private static final long STACK = 300_000;

    /** A queue with a line for permits of a rate, and one for those that somebody holds. */
    private static final class Scene implements AutoCloseable {

        private final QueueScene scene = new QueueScene(Map.of(
                "one", Waiting.of(Duration.ofSeconds(60), 100), "slots", Waiting.of(Duration.ofSeconds(60), 100)));
        private final RateLimitQueue queue = scene.queue;
        private final List<CompletableFuture<Decision>> answers = new ArrayList<>();

        Scene() {
            for (int i = 0; i < 4; i++) {
                answers.add(scene.ask(ONE.charge("k")));
                answers.add(scene.ask(SLOTS.charge("k")));
            }
        }

        void ask(Policy policy, String key) {
            answers.add(queue.acquire(policy.charge(key)));
        }

        /** Everybody is answered, and later callers are served. */
        void check() {
            for (int i = 0; i < 70; i++) {
                List<CompletableFuture<Decision>> holders =
                        answers.stream().filter(QueueScene::admitted).toList();
                answers.removeIf(QueueScene::admitted);
                holders.forEach(scene::release);
                scene.advance(Duration.ofSeconds(1));
            }
            assertThat(answers).allMatch(CompletableFuture::isDone);
            assertThat(queue.waiting("one") + queue.waiting("slots")).isZero();
            scene.advance(Duration.ofMinutes(11));
            for (Policy policy : List.of(ONE, SLOTS)) {
                CompletableFuture<Decision> first = scene.ask(policy.charge("k"));
                CompletableFuture<Decision> second = scene.ask(policy.charge("k"));
                scene.advance(Duration.ofSeconds(1));
                scene.release(first);
                scene.advance(Duration.ofSeconds(1));
                assertThat(QueueScene.admitted(second)).isTrue();
            }
        }

        @Override
        public void close() {
            scene.close();
        }
    }

    private record Call(String name, Consumer<Scene> action) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Call> calls() {
        return Stream.of(
                new Call("a newcomer", scene -> scene.ask(ONE, "k")),
                new Call("a newcomer who is first", scene -> scene.ask(ONE, "other")),
                new Call("the head leaves", scene -> scene.answers.get(2).cancel(false)),
                new Call("the last one leaves", scene -> scene.answers.get(7).cancel(false)),
                new Call("wake", scene -> scene.queue.wake(SLOTS, "k")),
                new Call("wake all", scene -> scene.queue.wake("one")),
                new Call("a permit comes back", scene -> {
                    scene.scene.store.refund(scene.answers.get(1).join());
                    scene.queue.wake(SLOTS, "k");
                }));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void call_atTheEndOfTheStack_leavesNobodyBehind(Call call) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread deep = new Thread(null, () -> tryAllDepths(call), "deep", STACK);
        deep.setUncaughtExceptionHandler((thread, thrown) -> {
            if (!(thrown instanceof StackOverflowError)) {
                failure.set(thrown);
            }
        });

        deep.start();
        deep.join();

        assertThat(failure.get()).isNull();
    }

    /** First with mostly interpreted code, then with compiled code. */
    private static void tryAllDepths(Call call) {
        tryDepthsAtTheEnd(call);
        for (int i = 0; i < WARM; i++) {
            succeeds(0, call);
        }
        tryDepthsAtTheEnd(call);
    }

    private static void tryDepthsAtTheEnd(Call call) {
        int deepest = deepest(call);
        int errors = 0;
        // frames shrink when they are compiled, so the end of the stack may move
        while (errors < DEPTHS) {
            errors += succeeds(deepest++, call) ? 0 : 1;
        }
    }

    /** Far enough from the end for everything but the call. */
    private static int deepest(Call call) {
        int deepest = 4;
        while (succeeds(2 * deepest, call)) {
            deepest *= 2;
        }
        for (int step = deepest / 2; step > 0; step /= 2) {
            deepest += succeeds(deepest + step, call) ? step : 0;
        }
        return deepest - 4;
    }

    private static boolean succeeds(int depth, Call call) {
        try (Scene scene = new Scene()) {
            boolean success = true;
            try {
                deeper(depth, call, scene);
            } catch (StackOverflowError expected) {
                success = false;
            }
            scene.check();
            return success && scene.answers.stream().noneMatch(CompletableFuture::isCompletedExceptionally);
        }
    }

    private static int deeper(int depth, Call call, Scene scene) {
        if (depth == 0) {
            call.action().accept(scene);
            return 0;
        }
        return 1 + deeper(depth - 1, call, scene);
    }
}
