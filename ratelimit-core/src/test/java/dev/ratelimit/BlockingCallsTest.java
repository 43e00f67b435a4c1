package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.memory.InMemoryStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The asynchronous calls of a store that can only block. */
@Timeout(60)
class BlockingCallsTest {

    private static final Policy SLOTS = Policy.of("slots", Concurrency.of(10));

    /** A store that can only block: until it may answer. */
    private static final class Slow extends ForwardingStore {

        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch answers = new CountDownLatch(1);
        private final CountDownLatch refunded = new CountDownLatch(1);
        private final List<Thread> threads = Collections.synchronizedList(new ArrayList<>());

        Slow() {
            super(InMemoryStore.create());
        }

        @Override
        public Decision decide(List<Charge> charges) {
            threads.add(Thread.currentThread());
            asked.countDown();
            await(answers);
            return super.decide(charges);
        }

        @Override
        public Decision peek(List<Charge> charges) {
            await(answers);
            return super.peek(charges);
        }

        @Override
        public void refund(Decision decision, List<Charge> part) {
            await(answers);
            super.refund(decision, part);
            refunded.countDown();
        }

        private long left() {
            return store().peek(List.of(SLOTS.charge("k", 0))).limits().get(0).remaining();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static CompletableFuture<Decision> future(CompletionStage<Decision> stage) {
        return stage.toCompletableFuture();
    }

    private final Slow store = new Slow();
    private final List<Charge> charges = List.of(SLOTS.charge("k", 4));

    @Test
    void slowStore_returnsBeforeItAnswers_onAThreadThatMayBlock() {
        CompletableFuture<Decision> decided = future(store.decideAsync(charges));
        CompletableFuture<Decision> peeked = future(store.peekAsync(charges));
        await(store.asked);

        assertThat(decided).isNotDone();
        assertThat(peeked).isNotDone();
        store.answers.countDown();
        assertThat(decided.join().admitted()).isTrue();
        assertThat(peeked.join().admitted()).isTrue();
        assertThat(store.threads)
                .singleElement()
                .matches(thread -> thread.isDaemon() && thread.getName().equals("ratelimit-blocking"));
        store.refundAsync(decided.join()).toCompletableFuture().join();
        assertThat(store.left()).isEqualTo(10);
    }

    @Test
    void listChangedAfterwards_isAskedAsItWas() {
        List<Charge> changing = new ArrayList<>(charges);

        CompletableFuture<Decision> decided = future(store.decideAsync(changing));
        changing.clear();
        store.answers.countDown();

        assertThat(decided.join().charges()).isEqualTo(charges);
    }

    @Test
    void decideAsync_cancelledWhileAsking_isRefunded() {
        CompletableFuture<Decision> decided = future(store.decideAsync(charges));
        await(store.asked);

        decided.cancel(false);
        store.answers.countDown();

        await(store.refunded);
        assertThat(store.left()).isEqualTo(10);
    }

    @Test
    void refundAsync_cancelled_isDoneNevertheless() {
        store.answers.countDown();
        Decision decision = store.decide(charges);

        store.refundAsync(decision).toCompletableFuture().cancel(false);

        await(store.refunded);
        assertThat(store.left()).isEqualTo(10);
    }

    @Test
    void anyCall_fails_failsTheStageOnly() {
        store.answers.countDown();
        Decision decision = store.decide(charges);
        List<Charge> withNull = Collections.singletonList(null);

        assertThat(future(store.decideAsync(withNull))).isCompletedExceptionally();
        assertThat(future(store.peekAsync(withNull))).isCompletedExceptionally();
        assertThatThrownBy(() -> store.refundAsync(decision, List.of(SLOTS.charge("other")))
                        .toCompletableFuture()
                        .join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void tooManyCallsWait_nextOneIsUnavailable_andThoseCancelledAreNeverAsked() {
        List<CompletableFuture<Decision>> waiting = new ArrayList<>();
        CompletableFuture<Decision> unused = askUntilRefused(waiting);
        int threads = ((ThreadPoolExecutor) BlockingCalls.POOL).getMaximumPoolSize();
        // a thread that was idle takes a waiting call when it wakes up, and so makes room for another one
        while (store.threads.size() < threads) {
            Thread.onSpinWait();
        }
        CompletableFuture<Decision> last = askUntilRefused(waiting);

        assertThatThrownBy(last::join)
                .hasCauseInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("policy slots could not be checked: all ")
                .hasMessageContaining("10000 calls wait for them");
        assertThat(future(store.decideAsync(List.of()))).isCompletedExceptionally();
        assertThat(waiting).hasSize(threads + 10_000);
        waiting.subList(threads, waiting.size()).forEach(each -> each.cancel(false));
        store.answers.countDown();
        waiting.subList(0, threads).forEach(CompletableFuture::join);
        assertThat(future(store.decideAsync(charges)).handle((decision, failure) -> true))
                .succeedsWithin(java.time.Duration.ofSeconds(50));
        assertThat(store.threads).hasSizeBetween(threads, threads + 1);
    }

    private CompletableFuture<Decision> askUntilRefused(List<CompletableFuture<Decision>> waiting) {
        while (true) {
            CompletableFuture<Decision> next = future(store.decideAsync(charges));
            if (next.isCompletedExceptionally()) {
                return next;
            }
            waiting.add(next);
        }
    }
}
