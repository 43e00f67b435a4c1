package dev.ratelimit.memory.storm;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Rate;

/** The same limit, with a point at each call. */
record Watched(LimitAlgorithm limit) implements LimitAlgorithm {

    private static void point(String method) {
        if (Thread.currentThread() instanceof Actor actor) {
            actor.foreign(method);
        }
    }

    private LimitAlgorithm at(String method) {
        point(method);
        return limit;
    }

    @Override
    public Rate rate() {
        return limit.rate();
    }

    @Override
    public long capacity() {
        return at("limit.capacity").capacity();
    }

    @Override
    public long replenishNanos() {
        return limit.replenishNanos();
    }

    @Override
    public boolean concurrency() {
        return at("limit.concurrency").concurrency();
    }

    @Override
    public boolean wallClock() {
        return at("limit.wallClock").wallClock();
    }

    @Override
    public int stateSize() {
        return at("limit.stateSize").stateSize();
    }

    @Override
    public boolean grows() {
        return at("limit.grows").grows();
    }

    @Override
    public void clear(long[] state, int at, long now) {
        at("limit.clear").clear(state, at, now);
        point("limit.clear, done");
    }

    @Override
    public boolean admits(long[] state, int at, long permits, long now) {
        return at("limit.admits").admits(state, at, permits, now);
    }

    @Override
    public void charge(long[] state, int at, long permits, long now) {
        at("limit.charge").charge(state, at, permits, now);
        if (!limit.grows()) {
            // after writing the state; a growing state is too long for a store to remember
            point("limit.charge, done");
        }
    }

    @Override
    public void refund(long[] state, int at, long permits, long ageNanos, long now) {
        at("limit.refund").refund(state, at, permits, ageNanos, now);
        point("limit.refund, done");
    }

    @Override
    public long remaining(long[] state, int at, long now) {
        return at("limit.remaining").remaining(state, at, now);
    }

    @Override
    public long retryAfterNanos(long[] state, int at, long permits, long now) {
        return at("limit.retryAfterNanos").retryAfterNanos(state, at, permits, now);
    }

    @Override
    public long fullAfterNanos(long[] state, int at, long now) {
        return at("limit.fullAfterNanos").fullAfterNanos(state, at, now);
    }

    @Override
    public long tryCharge(long state, long permits, long now) {
        return at("limit.tryCharge").tryCharge(state, permits, now);
    }

    @Override
    public long[] grow(long[] state, int at, long permits, long now) {
        return at("limit.grow").grow(state, at, permits, now);
    }

    @Override
    public boolean adopt(long[] state, int at, LimitAlgorithm former, long[] formerState, long now) {
        return at("limit.adopt").adopt(state, at, ((Watched) former).limit, formerState, now);
    }

    @Override
    public long share(long used, long whole) {
        return at("limit.share").share(used, whole);
    }

    @Override
    public boolean equals(Object other) {
        point("limit.equals");
        return other instanceof Watched watched && limit.equals(watched.limit);
    }

    @Override
    public int hashCode() {
        return at("limit.hashCode").hashCode();
    }

    @Override
    public String toString() {
        return limit.toString();
    }
}
