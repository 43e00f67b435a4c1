package dev.ratelimit.spring.rules.operation;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.decision.RequestRules;
import dev.ratelimit.spring.rules.decision.WaitingRequests;
import dev.ratelimit.spring.rules.recording.RequestRecording;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What is recorded of requests, as far as it is. Thread-safe. */
public final class Observations {

    private final RequestRules rules;
    private final KeyDisplay keys;
    private volatile @Nullable Traffic traffic;
    private volatile @Nullable RequestRecording recording;
    private volatile @Nullable WaitingRequests waiting;

    Observations(RequestRules rules, KeyDisplay keys) {
        this.rules = rules;
        this.keys = keys;
    }

    /**
     * Starts to record what becomes of requests, for {@link RateLimitOperations#report}.
     *
     * @param scheduler ends the minutes
     * @param ticker the wall time of refusals
     * @return what all requests are to be counted by; if it is {@link AutoCloseable}, to be closed in the end
     */
    public OutcomeCounter record(Scheduler scheduler, Ticker ticker) {
        Traffic recorded = new Traffic(scheduler, ticker);
        traffic = recorded;
        return recorded;
    }

    /**
     * Publishes refusals as events, with the keys as {@link RateLimitOperations#report} shows them.
     *
     * @param maxPerSecond the maximum number of events per policy and second
     * @param showKeys whether to show keys as their plain values, not as hashes
     * @return what all requests are to be counted by
     */
    public OutcomeCounter publishRefusals(QueuedEvents queue, int maxPerSecond, Ticker ticker, boolean showKeys) {
        return new RefusalEvents(
                queue,
                maxPerSecond,
                ticker,
                (policy, key) -> keys.list(rules.inForce().byPolicy().get(policy), key, showKeys));
    }

    /**
     * Starts to record requests, for {@link #recording()}.
     *
     * @param maxRequests how many are kept
     * @param share the share of callers whose requests are recorded
     * @return what is to be told of all requests
     */
    public RequestRecording recordRequests(Ticker ticker, int maxRequests, double share) {
        RequestRecording started = new RequestRecording(ticker, maxRequests, share);
        recording = started;
        return started;
    }

    /**
     * What was recorded of requests, for the simulator: a JSON object a line, with hashes in place of keys.
     *
     * @throws NoSuchElementException if nothing is recorded
     */
    public Stream<String> recording() {
        RequestRecording recorded = recording;
        if (recorded == null) {
            throw new NoSuchElementException(
                    "requests are not recorded; write ratelimit.recording.enabled: true, and start again");
        }
        return recorded.lines(rules.inForce(), rules.haveStages(), keys::hash);
    }

    /**
     * The time now, since when requests are counted, and when the current minute of histories began, for JSON; {@code null} if
     * requests are not counted.
     */
    public @Nullable Map<String, Object> times() {
        Traffic recorded = traffic;
        return recorded == null ? null : recorded.times();
    }

    void watch(WaitingRequests requests) {
        waiting = requests;
    }

    /** What becomes of requests; {@code null} if it is not recorded. */
    @Nullable
    Traffic traffic() {
        return traffic;
    }

    /** Those that wait; {@code null} if none can. */
    @Nullable
    WaitingRequests waiting() {
        return waiting;
    }
}
