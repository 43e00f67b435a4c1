package dev.ratelimit.redis.storm;

import dev.ratelimit.Limit;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Concurrency;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.TokenBucket.Refill;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a policy of a history consists of.
 *
 * @param limits its limits, such as {@code bucket:10/second:20+fixed:30/3s}
 * @param other the limits that instances have after {@link Step.Fault#OTHER_LIMITS}
 * @param penaltyNanos how long its penalty lasts; 0 for none
 * @param onFailure what applies while servers do not answer
 * @param waitNanos how long callers wait for permits at most; 0 if they do not
 */
record Terms(String limits, String other, long penaltyNanos, OnStoreFailure onFailure, long waitNanos) {

    private record Named(String name, Terms terms, boolean other) {}

    /** To parse a rate takes longer than a decision. */
    private static final Map<Named, Policy> POLICIES = new ConcurrentHashMap<>();

    /** Terms without a change, a penalty or a wait, that are decided in memory while servers do not answer. */
    static Terms of(String limits) {
        return new Terms(limits, limits, 0, OnStoreFailure.LOCAL, 0);
    }

    static Terms of(Fields fields) {
        String limits = fields.get("limits");
        return new Terms(
                limits,
                fields.get("other", limits, other -> other),
                fields.time("penalty", 0),
                fields.get("on-failure", OnStoreFailure.LOCAL, OnStoreFailure::valueOf),
                fields.time("wait", 0));
    }

    /** The same, with callers who wait. */
    Terms waiting(long nanos) {
        return new Terms(limits, other, penaltyNanos, onFailure, nanos);
    }

    Fields fields() {
        return new Fields()
                .with("limits", limits, null)
                .with("other", other, limits)
                .withTime("penalty", penaltyNanos, 0)
                .with("on-failure", onFailure, OnStoreFailure.LOCAL)
                .withTime("wait", waitNanos, 0);
    }

    /** The policy of this name, with its first or with its other limits. */
    Policy policy(String name, boolean changed) {
        return POLICIES.computeIfAbsent(new Named(name, this, changed), named -> named.terms.make(name, changed));
    }

    private Policy make(String name, boolean changed) {
        Limit[] all = Arrays.stream((changed ? other : limits).split("\\+"))
                .map(Terms::limit)
                .toArray(Limit[]::new);
        Policy policy = Policy.of(name, all);
        return penaltyNanos == 0 ? policy : policy.withPenalty(Duration.ofNanos(penaltyNanos));
    }

    private static Limit limit(String text) {
        String[] parts = text.split(":", -1);
        Rate rate = Rate.parse(parts[1]);
        return switch (parts[0]) {
            case "bucket" -> TokenBucket.of(rate, burst(parts, rate));
            case "interval" -> TokenBucket.of(rate, burst(parts, rate), Refill.INTERVAL);
            case "fixed" -> FixedWindow.of(rate);
            case "clock" -> FixedWindow.onClock(rate, ZoneOffset.UTC);
            case "sliding" -> SlidingWindow.of(rate);
            case "log" -> SlidingLog.of(rate);
            case "held" -> Concurrency.of(rate.permits(), Duration.ofNanos(rate.periodNanos()));
            default -> throw new IllegalArgumentException("no kind of limit: " + text);
        };
    }

    private static long burst(String[] parts, Rate rate) {
        return parts.length > 2 ? Long.parseLong(parts[2]) : rate.permits();
    }
}
