package dev.ratelimit.spring.rules.rule;

import dev.ratelimit.Rate;
import dev.ratelimit.queue.RateLimitQueue.Order;
import java.time.Duration;

/**
 * What happens to a request that a limit refuses.
 *
 * @param action whether it is refused at once
 * @param maxWait how long it may wait for its permits
 * @param queue how many requests may wait at once, over all keys
 * @param order who is served first among the requests of a key
 * @param delay how long its refusal is held back
 * @param delayed how many refusals may be held back at once, over all keys
 */
public record OnExceeded(Action action, Duration maxWait, int queue, Order order, Duration delay, int delayed) {

    /** What to do with it. */
    public enum Action {
        /** Refuse it at once. */
        REJECT,
        /** Let it wait for its permits, if they come in time. */
        WAIT,
        /** Refuse it, but only after a while. */
        DELAY
    }

    /** Refuses it at once. */
    public static final OnExceeded REJECT =
            new OnExceeded(Action.REJECT, Duration.ofSeconds(1), 100, Order.OLDEST_FIRST, Duration.ofSeconds(1), 100);

    /** Whether requests are refused at once. */
    public boolean rejects() {
        return action == Action.REJECT;
    }

    /** Whether requests may wait for their permits. */
    public boolean waits() {
        return action == Action.WAIT;
    }

    /** Whether refusals are held back. */
    public boolean delays() {
        return action == Action.DELAY;
    }

    /** For logs, such as {@code , waits up to 4s}; empty if requests are refused at once. */
    @Override
    public String toString() {
        return switch (action) {
            case REJECT -> "";
            case WAIT -> ", waits up to " + Rate.notation(maxWait) + " (at most " + queue + " requests)";
            case DELAY -> ", refuses after " + Rate.notation(delay) + " (at most " + delayed + " requests)";
        };
    }
}
