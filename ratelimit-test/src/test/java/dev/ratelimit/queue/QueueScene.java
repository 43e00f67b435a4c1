package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.ForwardingStore;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.queue.RateLimitQueue.Waiting;
import dev.ratelimit.test.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A queue on a fake clock, and a store that counts how often it is asked. */
final class QueueScene implements AutoCloseable {

    final FakeTicker ticker = new FakeTicker();
    final RateLimitStore store =
            new Counting(InMemoryStore.builder().ticker(ticker).maxKeys(10_000).build());
    final RateLimitQueue queue;

    /** How often the store was asked to charge, and to peek. */
    int decisions;

    int peeks;

    /** Hears of each decision. */
    Consumer<Decision> onDecision = decision -> {};

    QueueScene(Map<String, Waiting> policies) {
        RateLimitQueue.Builder builder = RateLimitQueue.builder(store).ticker(ticker);
        policies.forEach(builder::policy);
        queue = builder.build();
    }

    QueueScene(String policy, Waiting waiting) {
        this(Map.of(policy, waiting));
    }

    private final class Counting extends ForwardingStore {

        Counting(RateLimitStore store) {
            super(store);
        }

        @Override
        public Decision decide(List<Charge> charges) {
            decisions++;
            Decision decision = super.decide(charges);
            onDecision.accept(decision);
            return decision;
        }

        @Override
        public Decision peek(List<Charge> charges) {
            peeks++;
            return super.peek(charges);
        }
    }

    CompletableFuture<Decision> ask(Charge... charges) {
        return queue.acquire(charges);
    }

    /** The answers to callers who ask one after another. */
    List<CompletableFuture<Decision>> ask(int callers, Charge... charges) {
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            answers.add(queue.acquire(charges));
        }
        return answers;
    }

    void advance(Duration time) {
        ticker.advance(time);
    }

    /** Returns permits, as their holder does. */
    void release(CompletableFuture<Decision> holder) {
        store.refund(holder.join());
        holder.join().charges().forEach(charge -> queue.wake(charge.policy(), charge.key()));
    }

    static boolean admitted(CompletableFuture<Decision> answer) {
        return isAnswered(answer) && answer.join().admitted();
    }

    static boolean refused(CompletableFuture<Decision> answer) {
        return isAnswered(answer) && !answer.join().admitted();
    }

    private static boolean isAnswered(CompletableFuture<Decision> answer) {
        return answer.isDone() && !answer.isCompletedExceptionally();
    }

    @Override
    public void close() {
        queue.close();
    }
}
