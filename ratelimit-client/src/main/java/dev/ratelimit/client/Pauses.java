package dev.ratelimit.client;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * For which keys no call is sent for how long. The store keeps it, as a budget of time: a token bucket whose permits are
 * milliseconds and come back one per millisecond, so a key is paused until its bucket is full. To ask costs no permits and
 * is a part of the decision about the call.
 *
 * <p>A pause never becomes shorter, nor longer than the longest that was asked for: pauses of a key are charged one at a
 * time in this JVM. If several instances pause the same key at the same moment, each refunds what it charged too much;
 * if they were told different times, the shorter ones may then count. Thread-safe.
 */
final class Pauses {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** How often to try while other instances charge, too. */
    private static final int ATTEMPTS = 8;

    private final RateLimitStore store;
    private final Policy policy;
    private final long maxMillis;
    private final List<ReentrantLock> locks =
            Stream.generate(ReentrantLock::new).limit(64).toList();

    /**
     * Creates pauses.
     *
     * @param name of the policy in the store
     * @param max longer pauses are cut
     */
    Pauses(RateLimitStore store, String name, Duration max) {
        this.store = store;
        this.maxMillis = max.toMillis();
        this.policy = Policy.of(name, TokenBucket.of(Rate.of(maxMillis, Duration.ofMillis(maxMillis))));
    }

    /** Asks for the pause of a key, as a part of a decision. */
    Charge question(String key) {
        return policy.charge(key, 0);
    }

    /** How long the key is still paused, after a decision with the question; 0 if the store has not answered it. */
    long leftNanos(Decision decision) {
        List<LimitStatus> limits = decision.limits();
        for (int i = 0; i < limits.size(); i++) {
            if (limits.get(i).policy().name().equals(policy.name())) {
                return limits.get(i).fullAfterNanos();
            }
        }
        return 0;
    }

    /** Pauses a key for so long, unless it is paused for longer already. */
    void pause(String key, long seconds) {
        long millis = Math.min(maxMillis, Math.min(seconds, maxMillis) * 1_000);
        ReentrantLock lock = locks.get(Math.floorMod(key.hashCode(), locks.size()));
        lock.lock();
        try {
            for (int i = 0; i < ATTEMPTS && !charged(key, millis); i++) {
                // another instance has charged in between
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean charged(String key, long millis) {
        long missing = millis - millis(store.peek(List.of(question(key))));
        if (missing <= 0) {
            return true;
        }
        Decision decision = store.decide(List.of(policy.charge(key, missing)));
        if (decision.admitted()) {
            long excess = Math.min(missing, millis(decision) - millis);
            if (excess > 0) {
                store.refund(decision, List.of(policy.charge(key, excess)));
            }
        }
        return decision.admitted();
    }

    /** Rounded up. */
    private long millis(Decision decision) {
        return -Math.floorDiv(-leftNanos(decision), NANOS_PER_MILLI);
    }
}
