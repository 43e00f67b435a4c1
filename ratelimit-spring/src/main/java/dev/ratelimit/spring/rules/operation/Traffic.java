package dev.ratelimit.spring.rules.operation;

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
 * What became of the requests under each policy: since the start, in each of the last 60 minutes, and whose were refused
 * most in the current and the previous hour, and last. Requests only count; an alarm notes the counts each minute.
 * Thread-safe.
 */
final class Traffic implements OutcomeCounter, AutoCloseable {

    /** The length of the history. */
    static final int MINUTES = 60;

    /** Every key is listed that causes more than this share of the refusals of its policy in an hour: 5 %. */
    static final int FREQUENT = 20;

    private static final Outcome[] OUTCOMES = Outcome.values();
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Map<String, OfPolicy> policies = new ConcurrentHashMap<>();
    private final Scheduler scheduler;
    private final Ticker ticker;
    private final RefusedKeys.Moment start;

    /** Changed by the alarm, with the lock. */
    private volatile int minute;

    /** When the current minute began. */
    private volatile Instant minuteStart;

    private Scheduler.@Nullable Alarm alarm;

    /**
     * Starts recording.
     *
     * @param scheduler ends the minutes
     * @param ticker the wall time, for people
     */
    Traffic(Scheduler scheduler, Ticker ticker) {
        this.scheduler = scheduler;
        this.ticker = ticker;
        this.start = RefusedKeys.now(() -> 0, ticker);
        this.minuteStart = start.time();
        this.alarm = scheduler.schedule(this::endMinute, MINUTE_NANOS);
    }

    private synchronized void endMinute() {
        if (alarm != null) {
            minute++;
            minuteStart = time();
            policies.values().forEach(policy -> policy.note(minute));
            alarm = scheduler.schedule(this::endMinute, MINUTE_NANOS);
        }
    }

    @Override
    public void count(String policy, Outcome outcome) {
        of(policy).count(outcome).increment();
    }

    @Override
    public void refused(String policy, String key) {
        OfPolicy of = of(policy);
        of.refused.count(key);
        of.last.refused(key);
    }

    @Override
    public void told(String policy, String key, RequestContext context, @Nullable Long retryAfterSeconds) {
        of(policy).last.told(key, endpointOf(context), retryAfterSeconds);
    }

    /** A refusal is answered, whatever happens while its endpoint is looked up. */
    private static @Nullable String endpointOf(RequestContext context) {
        try {
            return context.endpoint().id();
        } catch (RuntimeException e) {
            return null;
        }
    }

    private OfPolicy of(String policy) {
        OfPolicy known = policies.get(policy);
        return known != null
                ? known
                : policies.computeIfAbsent(policy, name -> new OfPolicy(new RefusedKeys(start, () -> minute, ticker)));
    }

    private Instant time() {
        return RefusedKeys.now(() -> minute, ticker).time();
    }

    /** The time now, since when requests are counted, and when the current minute of histories began, for JSON. */
    Map<String, Object> times() {
        Map<String, Object> times = new LinkedHashMap<>();
        times.put("time", time().toString());
        times.put("since", start.time().toString());
        times.put("minute", minuteStart.toString());
        return times;
    }

    /** The requests under a policy since the start, by outcome. */
    Map<String, Long> counts(String policy) {
        return of(policy).counts();
    }

    /** The requests under a policy in each of the last minutes, the current one last, by outcome. */
    synchronized Map<String, long[]> history(String policy) {
        return of(policy).history(minute);
    }

    /**
     * The most refused keys of a policy in the current and the previous hour: every key that causes more than
     * 1/{@link #FREQUENT} of the refusals, and perhaps others.
     */
    List<FrequentKeys.Frequent> mostRefused(String policy) {
        return of(policy).mostRefused();
    }

    /** The keys of a policy that were refused last. */
    RefusedKeys lastRefused(String policy) {
        return of(policy).last;
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

        private volatile FrequentKeys refused = new FrequentKeys(2 * FREQUENT);
        private volatile FrequentKeys refusedBefore = new FrequentKeys(2 * FREQUENT);
        private final RefusedKeys last;

        OfPolicy(RefusedKeys last) {
            this.last = last;
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
                refusedBefore = refused;
                refused = new FrequentKeys(2 * FREQUENT);
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

        /** With at most 2 * FREQUENT keys: no more can have half of that share. */
        List<FrequentKeys.Frequent> mostRefused() {
            Map<String, Long> counts = new HashMap<>();
            long lost = 0;
            for (FrequentKeys hour : List.of(refused, refusedBefore)) {
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
