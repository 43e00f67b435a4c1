package dev.ratelimit.spring.rules.traffic;

import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.rules.decision.OutcomeCounter;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What became of the requests under each policy: since the start, in each of the last 60 minutes, whose were refused most in
 * the current and the previous hour, and where. Requests only count; an alarm notes the counts each minute. Minutes are
 * those of the clock. Thread-safe.
 */
public final class Traffic implements OutcomeCounter, AutoCloseable {

    /** The length of the history. */
    public static final int MINUTES = 60;

    /** Every key and endpoint is listed that causes more than this share of the refusals of its policy in an hour: 5 %. */
    public static final int FREQUENT = 20;

    private static final Outcome[] OUTCOMES = Outcome.values();
    private static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);

    /** An alarm that comes so much too early, because the clock was set, is that of the next minute. */
    private static final long EARLY_MILLIS = 1_000;

    private final Map<String, OfPolicy> policies = new ConcurrentHashMap<>();
    private final Scheduler scheduler;
    private final Ticker ticker;
    private final long startMillis;

    /** How many minutes have ended. Changed by the alarm, with the lock. */
    private volatile int minute;

    /** The current minute, counted from the epoch. */
    private volatile long clockMinute;

    private Scheduler.@Nullable Alarm alarm;

    /**
     * Starts recording.
     *
     * @param scheduler ends the minutes
     * @param ticker the wall time, for people
     */
    public Traffic(Scheduler scheduler, Ticker ticker) {
        this.scheduler = scheduler;
        this.ticker = ticker;
        this.startMillis = millis();
        this.clockMinute = minuteOf(startMillis);
        this.alarm = scheduler.schedule(this::endMinute, nanosLeft(startMillis));
    }

    private static long minuteOf(long millis) {
        return Math.floorDiv(millis + EARLY_MILLIS, MINUTE_MILLIS);
    }

    /** How long this minute lasts. */
    private static long nanosLeft(long millis) {
        return TimeUnit.MILLISECONDS.toNanos((minuteOf(millis) + 1) * MINUTE_MILLIS - millis);
    }

    private synchronized void endMinute() {
        if (alarm != null) {
            // first: whatever fails ends this minute, and not all of them
            long millis = millis();
            alarm = scheduler.schedule(this::endMinute, nanosLeft(millis));
            long now = minuteOf(millis);
            // several after the clock was set forward, or the process stood still; more than two hours change nothing
            long ended = Math.max(1, Math.min(now - clockMinute, 2 * MINUTES));
            clockMinute = now;
            for (long i = 0; i < ended; i++) {
                minute++;
                policies.values().forEach(policy -> policy.note(minute));
            }
        }
    }

    @Override
    public void count(String policy, @Nullable String key, Outcome outcome, RequestContext request) {
        OfPolicy counted = of(policy);
        counted.count(outcome).increment();
        if (!outcome.isRefusal()) {
            return;
        }
        if (key != null) {
            counted.keys.count(key);
        }
        String endpoint = endpointOf(request);
        if (endpoint != null) {
            counted.endpoints.count(endpoint);
        }
    }

    /** The request is answered, whatever happens while its endpoint is looked up; {@code null} if that fails. */
    public static @Nullable String endpointOf(RequestContext context) {
        try {
            return context.endpoint().id();
        } catch (RuntimeException e) {
            return null;
        }
    }

    private OfPolicy of(String policy) {
        OfPolicy known = policies.get(policy);
        return known != null ? known : policies.computeIfAbsent(policy, name -> new OfPolicy());
    }

    /** The wall time, since the epoch. */
    private long millis() {
        return Math.floorDiv(ticker.epochNanos(), 1_000_000L);
    }

    /** The time now, since when requests are counted, and when the current minute of histories began, for JSON. */
    public Map<String, Object> times() {
        Map<String, Object> times = new LinkedHashMap<>();
        times.put("time", Instant.ofEpochMilli(millis()).toString());
        times.put("since", Instant.ofEpochMilli(startMillis).toString());
        times.put("minute", Instant.ofEpochMilli(clockMinute * MINUTE_MILLIS).toString());
        return times;
    }

    /** The requests under a policy since the start, by outcome. */
    public Map<String, Long> counts(String policy) {
        return of(policy).counts();
    }

    /** The requests under a policy in each of the last {@link #MINUTES} minutes, the current one last, by outcome. */
    public synchronized Map<String, long[]> history(String policy) {
        return of(policy).history(minute);
    }

    /**
     * The most refused keys of a policy in the current and the previous hour: every key that causes more than
     * 1/{@link #FREQUENT} of the refusals, and perhaps others; at most twice as many.
     */
    public List<FrequentKeys.Frequent> mostRefused(String policy) {
        return of(policy).keys.top();
    }

    /** The endpoints at which a policy refused most, likewise. */
    public List<FrequentKeys.Frequent> mostRefusedEndpoints(String policy) {
        return of(policy).endpoints.top();
    }

    @Override
    public synchronized void close() {
        if (alarm != null) {
            alarm.cancel();
            alarm = null;
        }
    }

    /** The traffic of one policy. */
    static final class OfPolicy {

        private final Map<Outcome, LongAdder> counts = new EnumMap<>(Outcome.class);

        /** The counts at the ends of the last minutes; the oldest is overwritten. */
        private final Map<Outcome, long[]> totals = new EnumMap<>(Outcome.class);

        private final LastHours keys = new LastHours();
        private final LastHours endpoints = new LastHours();

        OfPolicy() {
            for (Outcome outcome : OUTCOMES) {
                counts.put(outcome, new LongAdder());
                totals.put(outcome, new long[MINUTES]);
            }
        }

        private LongAdder count(Outcome outcome) {
            return Objects.requireNonNull(counts.get(outcome));
        }

        synchronized void note(int minute) {
            totals.forEach(
                    (outcome, ends) -> ends[minute % MINUTES] = count(outcome).sum());
            if (minute % MINUTES == 0) {
                keys.beginHour();
                endpoints.beginHour();
            }
        }

        /** By the names of the outcomes. */
        Map<String, Long> counts() {
            Map<String, Long> all = new LinkedHashMap<>();
            for (Outcome outcome : OUTCOMES) {
                all.put(outcome.tag(), count(outcome).sum());
            }
            return all;
        }

        /** The requests in each of the last minutes, the current one last, by outcome. */
        synchronized Map<String, long[]> history(int minute) {
            Map<String, long[]> all = new LinkedHashMap<>();
            totals.forEach((outcome, ends) -> {
                long[] requests = new long[MINUTES];
                long after = count(outcome).sum();
                for (int i = 0; i < MINUTES; i++) {
                    long before = ends[Math.floorMod(minute - i, MINUTES)];
                    requests[MINUTES - 1 - i] = after - before;
                    after = before;
                }
                all.put(outcome.tag(), requests);
            });
            return all;
        }
    }

    /** The most frequent keys of the current and the previous hour. */
    static final class LastHours {

        private volatile FrequentKeys now = new FrequentKeys(2 * FREQUENT);
        private volatile FrequentKeys before = new FrequentKeys(2 * FREQUENT);

        void count(String key) {
            now.count(key);
        }

        void beginHour() {
            before = now;
            now = new FrequentKeys(2 * FREQUENT);
        }

        /** At most 2 * FREQUENT: no more can have half of that share. */
        List<FrequentKeys.Frequent> top() {
            Map<String, Long> counts = new HashMap<>();
            long lost = 0;
            for (FrequentKeys hour : List.of(now, before)) {
                hour.top().forEach(one -> counts.merge(one.key(), one.count(), Long::sum));
                // also for a key that has no counter in that hour any more
                lost += hour.lost();
            }
            long uncertain = lost;
            return counts.entrySet().stream()
                    .map(entry -> new FrequentKeys.Frequent(entry.getKey(), entry.getValue(), uncertain))
                    .sorted(Comparator.comparingLong(FrequentKeys.Frequent::count)
                            .reversed()
                            .thenComparing(FrequentKeys.Frequent::key))
                    .limit(2 * FREQUENT)
                    .toList();
        }
    }
}
