package dev.ratelimit.spring.reactive.method;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.rules.decision.CallLimiter;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A call of one subscriber. The permits that it holds come back when it ends, also if that is before it is charged. */
final class SubscribedCall {

    private final CallLimiter.Call call;
    private boolean ended;
    private volatile @Nullable RateLimitExceededException refusal;

    SubscribedCall(CallLimiter.Call call) {
        this.call = call;
    }

    CallLimiter.Call call() {
        return call;
    }

    /** Charges the call on the subscribing thread. */
    Mono<Void> charge(Runnable charging) {
        return Mono.fromRunnable(() -> {
            try {
                charging.run();
            } catch (RateLimitExceededException e) {
                refusal = e;
                throw e;
            }
            if (hasEnded()) {
                call.end();
            }
        });
    }

    /** Whether this is why the call itself is refused, and not another one that its method makes. */
    @SuppressWarnings("ReferenceEquality") // the same event
    boolean isRefusal(RateLimitExceededException exception) {
        return refusal == exception;
    }

    private synchronized boolean hasEnded() {
        return ended;
    }

    void end() {
        synchronized (this) {
            ended = true;
        }
        call.end();
    }
}
