package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Ticker;
import dev.ratelimit.spring.Mode;
import dev.ratelimit.spring.RateLimitRefusedEvent;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Publishes refusals as events: at most so many per policy and second, each with the number of those that were left out
 * before it. A refusal that is left out creates nothing. Thread-safe.
 */
public final class RefusalEvents implements OutcomeCounter {

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** What {@link Sample#take} returns for a refusal that is left out. */
    private static final long LEFT_OUT = -1;

    private final QueuedEvents events;
    private final int maxPerSecond;
    private final Ticker ticker;
    private final BiFunction<String, String, List<String>> shown;
    private final Map<String, Sample> samples = new ConcurrentHashMap<>();

    /**
     * Creates a publisher.
     *
     * @param maxPerSecond the maximum number of events per policy and second
     * @param shown what listeners see of a policy's key; called on their thread
     */
    public RefusalEvents(
            QueuedEvents events, int maxPerSecond, Ticker ticker, BiFunction<String, String, List<String>> shown) {
        this.events = events;
        this.maxPerSecond = maxPerSecond;
        this.ticker = ticker;
        this.shown = shown;
    }

    /** The events of one policy. */
    private final class Sample {

        private long secondNanos = ticker.nanos();
        private int published;
        private long leftOut;

        /** How many were left out before this one; {@link #LEFT_OUT} if this one is, too. */
        synchronized long take() {
            long now = ticker.nanos();
            if (now - secondNanos >= SECOND_NANOS) {
                secondNanos = now;
                published = 0;
            }
            if (published == maxPerSecond) {
                leftOut++;
                return LEFT_OUT;
            }
            published++;
            long before = leftOut;
            leftOut = 0;
            return before;
        }

        synchronized void leaveOut(long more) {
            leftOut += more;
        }
    }

    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        if (outcome.isRefusal()) {
            publish(policy, key, outcome, request);
        }
    }

    private void publish(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        Sample known = samples.get(policy);
        Sample sample = known != null ? known : samples.computeIfAbsent(policy, name -> new Sample());
        long leftOut = sample.take();
        if (leftOut == LEFT_OUT) {
            return;
        }
        Mode mode = outcome == Outcome.SHADOW_REFUSED ? Mode.SHADOW : Mode.ENFORCE;
        Endpoint endpoint = request.knownEndpoint();
        Instant at = Instant.EPOCH.plusNanos(ticker.epochNanos());
        boolean waits = events.offer(() -> new RateLimitRefusedEvent(
                policy,
                mode,
                key == null || key.isEmpty() ? List.of() : shown.apply(policy, key),
                endpoint == null ? null : endpoint.id(),
                at,
                leftOut));
        if (!waits) {
            sample.leaveOut(leftOut + 1);
        }
    }
}
