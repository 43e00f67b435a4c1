package dev.ratelimit.remote;

import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Scheduler;
import dev.ratelimit.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/** How a store uses its servers: what its {@linkplain RemoteStoreBuilder builder} was told, and does not change any more. */
public final class RemoteStoreSettings {

    /** The store's name in log lines and messages. */
    final String name;

    final Executor executor;
    final RemoteStoreListener listener;
    final int maxInFlight;
    final int failures;
    final Duration openFor;
    final Map<String, OnStoreFailure> onFailure;
    final OnStoreFailure otherwise;
    final double localShare;
    final Duration denyCache;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final Duration deadline;
    private final RandomGenerator random;

    RemoteStoreSettings(RemoteStoreBuilder<?> builder) {
        this.name = builder.name;
        this.ticker = builder.ticker;
        this.scheduler = builder.scheduler == null ? Scheduler.of(ticker) : builder.scheduler;
        this.executor = builder.executor == null ? scheduler.blockingExecutor() : builder.executor;
        this.listener = builder.listener;
        this.deadline = builder.deadline;
        this.maxInFlight = builder.maxInFlight;
        this.failures = builder.failures;
        this.openFor = builder.openFor;
        this.onFailure = Map.copyOf(builder.onFailure);
        this.otherwise = builder.otherwise;
        this.localShare = builder.localShare;
        this.denyCache = builder.denyCache;
        this.random = builder.random;
    }

    /** {@return the clock of this instance} */
    public Ticker ticker() {
        return ticker;
    }

    /** {@return what sets alarms, and in which callers wait} */
    public Scheduler scheduler() {
        return scheduler;
    }

    /** {@return the maximum time of a decision} */
    public long deadlineNanos() {
        return deadline.toNanos();
    }

    /** {@return what spreads what instances would otherwise do at the same time} */
    public RandomGenerator random() {
        return random;
    }

    /** A new breaker for one server. */
    Breaker breaker() {
        return new Breaker(ticker, failures, openFor.toNanos(), random);
    }
}
