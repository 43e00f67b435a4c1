package dev.ratelimit.spring.boot.store;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.spring.boot.spi.StoreWarmUp;
import dev.ratelimit.spring.rules.config.RateLimitProperties;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Asks a store about all policies before the first request. The first decision of a JVM loads classes here and scripts or
 * plans there, which may take longer than the deadline; the instance would then decide alone. Asking charges nothing.
 */
public final class RemoteWarmUp implements StoreWarmUp {

    private static final int MAX_ROUNDS = 5;

    private final RateLimitStore store;
    private final BooleanSupplier available;
    private final Ticker ticker;
    private final long deadlineNanos;
    private final int rounds;

    /**
     * Creates a warm-up of a store.
     *
     * @param available whether the store has not given up on a server
     * @param settings the deadline of its decisions, and how many failures make it give up
     */
    public RemoteWarmUp(
            RateLimitStore store, BooleanSupplier available, Ticker ticker, RateLimitProperties.Remote settings) {
        this.store = store;
        this.available = available;
        this.ticker = ticker;
        this.deadlineNanos = settings.deadline().toNanos();
        this.rounds = Math.min(MAX_ROUNDS, settings.failures() - 1);
    }

    /** Asks until an answer comes in half of the time that it may take, but not if its server is known to fail. */
    @Override
    public void ask(List<Policy> policies) {
        List<Charge> charges = oneOfEachKind(policies);
        long took = deadlineNanos;
        for (int i = 0; i < rounds && took > deadlineNanos / 2 && available.getAsBoolean(); i++) {
            long start = ticker.nanos();
            peek(charges);
            took = ticker.nanos() - start;
        }
    }

    /** Policies with limits of the same algorithms run the same code. */
    private static List<Charge> oneOfEachKind(List<Policy> policies) {
        Map<List<Class<?>>, Charge> kinds = new LinkedHashMap<>();
        for (Policy policy : policies) {
            List<Class<?>> kind =
                    policy.limits().stream().<Class<?>>map(Object::getClass).toList();
            kinds.putIfAbsent(kind, policy.charge("warm-up"));
        }
        return List.copyOf(kinds.values());
    }

    private void peek(List<Charge> charges) {
        try {
            Decision unused = store.peek(charges);
        } catch (StoreUnavailableException e) {
            // requests will find out whether the server fails
        }
    }
}
