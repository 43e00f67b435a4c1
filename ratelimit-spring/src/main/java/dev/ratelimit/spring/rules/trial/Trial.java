package dev.ratelimit.spring.rules.trial;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.RateLimitTrial;
import dev.ratelimit.spring.rules.request.RequestContext;
import dev.ratelimit.spring.rules.rule.Rule;
import dev.ratelimit.spring.rules.traffic.FrequentKeys;
import dev.ratelimit.spring.rules.traffic.Traffic;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The trial of other limits of a policy, in the memory of this instance, with budgets of its own that are full at the
 * beginning. It ends at the first request after its time, and keeps nothing but its result from then on.
 *
 * <p>Memory while it runs: at most {@link #KEYS} budgets, which the store sizes as those of a policy, and {@link
 * #REFUSED_KEYS} keys that would be refused more often, about 1.5 MB. Thread-safe.
 */
public final class Trial {

    /** The maximum number of keys with a budget. */
    public static final int KEYS = 100_000;

    /** The maximum number of keys that are known to be refused more often. */
    public static final int REFUSED_KEYS = 10_000;

    private final Rule rule;
    private final Policy policy;
    private final RateLimitTrial asked;
    private final @Nullable String by;
    private final Ticker ticker;
    private final long sinceNanos;
    private final Instant since;

    private final LongAdder neither = new LongAdder();
    private final LongAdder more = new LongAdder();
    private final LongAdder fewer = new LongAdder();
    private final LongAdder both = new LongAdder();
    private final FrequentKeys keys = new FrequentKeys(2 * Traffic.FREQUENT);
    private final FrequentKeys endpoints = new FrequentKeys(2 * Traffic.FREQUENT);

    private final AtomicInteger refusedKeys = new AtomicInteger();
    private final AtomicBoolean over = new AtomicBoolean();

    /** The keys that are refused more often; emptied at the end. */
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    /** {@code null} once the trial is over. */
    private volatile @Nullable InMemoryStore store;

    private volatile @Nullable Instant ended;

    /** How many keys it had at its end, and how many of them were lost. */
    private volatile long lastKeys;

    private volatile long lastLost;

    /**
     * Begins a trial.
     *
     * @param rule whose limits are in force
     * @param limits to be tried
     * @param by who asks for it; {@code null} for the application itself
     */
    Trial(Rule rule, List<Limit> limits, RateLimitTrial asked, @Nullable String by, Ticker ticker) {
        this.rule = rule;
        this.policy = new Policy(rule.policy().name(), limits);
        this.asked = asked;
        this.by = by;
        this.ticker = ticker;
        this.sinceNanos = ticker.nanos();
        this.since = Instant.EPOCH.plusNanos(ticker.epochNanos());
        this.store = InMemoryStore.builder().ticker(ticker).maxKeys(KEYS).build();
    }

    /**
     * Decides about a request as if the limits that are tried were in force. Does nothing once the trial is over; never fails.
     *
     * @param refusedNow whether the policy refuses the request, or would without shadow mode
     * @return gives back what the trial has charged; {@code null} if that is nothing
     */
    @Nullable
    Runnable decide(Charge charge, boolean refusedNow, RequestContext request) {
        InMemoryStore memory = store;
        try {
            if (memory == null || endIfOver()) {
                return null;
            }
            Decision decision = memory.decide(List.of(policy.charge(charge.key(), charge.permits())));
            count(charge.key(), refusedNow, !decision.admitted(), request);
            return decision.admitted() ? () -> refund(memory, decision) : null;
        } catch (RuntimeException e) {
            // the request is decided already, and a trial must not change that
            return null;
        }
    }

    private static void refund(InMemoryStore memory, Decision decision) {
        try {
            memory.refund(decision);
        } catch (RuntimeException e) {
            // as above
        }
    }

    private void count(String key, boolean refusedNow, boolean refusedThen, RequestContext request) {
        if (refusedNow) {
            (refusedThen ? both : fewer).increment();
        } else if (refusedThen) {
            more.increment();
            keys.count(key);
            if (refusedKeys.get() < REFUSED_KEYS && refused.add(key)) {
                refusedKeys.incrementAndGet();
            }
            String endpoint = Traffic.endpointOf(request);
            if (endpoint != null) {
                endpoints.count(endpoint);
            }
        } else {
            neither.increment();
        }
    }

    /** Whether its time is over. */
    private boolean endIfOver() {
        boolean late = isLate();
        if (late) {
            end(since.plus(asked.duration()));
        }
        return late;
    }

    private boolean isLate() {
        return ticker.nanos() - sinceNanos >= asked.duration().toNanos();
    }

    /** Ends the trial now, unless it is over. */
    void end() {
        end(isLate() ? since.plus(asked.duration()) : Instant.EPOCH.plusNanos(ticker.epochNanos()));
    }

    private void end(Instant at) {
        InMemoryStore memory = store;
        if (memory == null || !over.compareAndSet(false, true)) {
            return;
        }
        lastKeys = memory.keys(policy.name());
        lastLost = memory.evictedActive(policy.name());
        ended = at;
        store = null;
        refused.clear();
        memory.close();
    }

    /** Whether it is about this rule of its policy, as the key is the same. */
    boolean isOf(Rule now) {
        return now.key().toString().equals(rule.key().toString());
    }

    /** The rule whose limits were in force at the beginning. */
    public Rule rule() {
        return rule;
    }

    /** Who has asked for it; {@code null} for the application itself. */
    public @Nullable String by() {
        return by;
    }

    /** What was asked for. */
    public RateLimitTrial asked() {
        return asked;
    }

    /** What it has shown so far. */
    public RateLimitTrial.Result result() {
        boolean running = store != null && !endIfOver();
        Instant end = ended;
        long refusedMore = more.sum();
        long refusedLess = fewer.sum();
        long refusedByBoth = both.sum();
        return new RateLimitTrial.Result(
                policy.limits(),
                since,
                end == null ? since.plus(asked.duration()) : end,
                running,
                neither.sum() + refusedMore + refusedLess + refusedByBoth,
                refusedMore,
                refusedLess,
                refusedByBoth,
                Math.min(refusedKeys.get(), REFUSED_KEYS));
    }

    /** How many keys have a budget of which something is used, or had one at the end. */
    public long keys() {
        InMemoryStore memory = store;
        return memory == null ? lastKeys : memory.keys(policy.name());
    }

    /** How many budgets were forgotten although something was used of them, because there were too many. */
    public long lost() {
        InMemoryStore memory = store;
        return memory == null ? lastLost : memory.evictedActive(policy.name());
    }

    /** The keys that would be refused most in addition: every one with more than 1/{@link Traffic#FREQUENT} of that. */
    public List<FrequentKeys.Frequent> mostRefused() {
        return keys.top().stream().limit(2 * Traffic.FREQUENT).toList();
    }

    /** The endpoints at which most would be refused in addition, likewise. */
    public List<FrequentKeys.Frequent> mostRefusedEndpoints() {
        return endpoints.top().stream().limit(2 * Traffic.FREQUENT).toList();
    }
}
