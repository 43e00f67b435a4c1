package dev.ratelimit;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** How a store is called. If that blocks, the stage is completed already, so that its dependents run on this thread. */
enum Asking {
    BLOCKING {
        @Override
        CompletionStage<Decision> decide(RateLimitStore store, Charge charge) {
            return CompletableFuture.completedFuture(store.decide(List.of(charge)));
        }

        @Override
        CompletionStage<Decision> peek(RateLimitStore store, Charge charge) {
            return CompletableFuture.completedFuture(store.peek(List.of(charge)));
        }

        @Override
        CompletionStage<?> refund(RateLimitStore store, Decision decision, List<Charge> part) {
            store.refund(decision, part);
            return CompletableFuture.completedFuture(null);
        }
    },
    ASYNC {
        @Override
        CompletionStage<Decision> decide(RateLimitStore store, Charge charge) {
            return store.decideAsync(List.of(charge));
        }

        @Override
        CompletionStage<Decision> peek(RateLimitStore store, Charge charge) {
            return store.peekAsync(List.of(charge));
        }

        @Override
        CompletionStage<?> refund(RateLimitStore store, Decision decision, List<Charge> part) {
            return store.refundAsync(decision, part);
        }
    };

    abstract CompletionStage<Decision> decide(RateLimitStore store, Charge charge);

    abstract CompletionStage<Decision> peek(RateLimitStore store, Charge charge);

    abstract CompletionStage<?> refund(RateLimitStore store, Decision decision, List<Charge> part);
}
