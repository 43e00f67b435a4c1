package dev.ratelimit.redis;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.PendingBatch.Waited;
import dev.ratelimit.remote.RemoteStoreListener;
import dev.ratelimit.remote.StoreFailure;
import dev.ratelimit.remote.Timeout;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the state of keys in Redis or Valkey, so that all instances of an application share their limits. Each decision
 * runs one script on the server, by the server's clock, for all limits of all policies: all or nothing. In a cluster
 * each slot involved runs one script, all at the same time, and what one slot charged is refunded if another refuses.
 *
 * <p>A decision never waits longer than the deadline. When Redis has not answered by then, or is known to fail, each
 * policy's {@link dev.ratelimit.OnStoreFailure} applies; after some failures Redis is not asked for a while.
 *
 * <p>Thread-safe. Close it before the client.
 */
@CheckReturnValue
public final class RedisStore implements RateLimitStore {

    private final Router router;
    private final LocalDecider local;
    private final StatusCache statusCache;
    private final OwedRefunds owed;
    private final Ticker ticker;
    private final RemoteStoreListener listener;
    private final Scheduler scheduler;
    private final long deadlineNanos;
    private final Inquiries inquiries;
    private final Delivery delivery;

    /** Creates a store from these parts, with the builder's settings. */
    RedisStore(Router router, LocalDecider local, StatusCache statusCache, RedisStoreBuilder settings) {
        this.router = router;
        this.local = local;
        this.statusCache = statusCache;
        this.ticker = settings.ticker();
        this.listener = settings.listener();
        this.deadlineNanos = settings.deadline().toNanos();
        this.scheduler = settings.settings().scheduler();
        this.owed = new OwedRefunds(router, ticker, scheduler);
        this.inquiries = new Inquiries(router, owed, local, statusCache, settings);
        this.delivery = new Delivery(settings.executor(), scheduler);
    }

    /**
     * Builds a store on this client's server, or on the master that its sentinels name.
     *
     * @param client used by this store alone: the store changes its options so that it queues nothing and sends nothing
     *     twice
     * @return a builder with the default settings
     */
    public static RedisStoreBuilder builder(RedisClient client) {
        return new RedisStoreBuilder(settings -> new LettuceServer(client));
    }

    /**
     * Builds a store on this client's cluster, with its own connections to each node.
     *
     * @param client finds the nodes and defines how to connect; used by this store alone
     * @return a builder with the default settings
     */
    public static RedisStoreBuilder builder(RedisClusterClient client) {
        return new RedisStoreBuilder(
                settings -> new Cluster(new LettuceClusterConnector(client), settings.ticker(), settings.random()));
    }

    /**
     * Checks that Redis can keep this limit exactly. Needs no server.
     *
     * @param limit any limit
     * @throws IllegalArgumentException if it cannot; the message says why
     */
    public static void check(Limit limit) {
        RedisLimits.of(limit);
    }

    /**
     * {@return whether all servers answer that were asked so far} The keys of a server that does not are decided
     * without it.
     */
    public boolean available() {
        return router.available();
    }

    @Override
    public Decision decide(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        Decision refusal = statusCache.refusal(distinct);
        return refusal != null ? refusal : ask(distinct, Operation.CHARGE);
    }

    /**
     * {@inheritDoc}
     *
     * <p>No thread waits. Completes on the calling thread what needs no answer of a server, and all else on the
     * {@linkplain RedisStoreBuilder#executor executor}.
     */
    @Override
    public CompletionStage<Decision> decideAsync(List<Charge> charges) {
        return delivery.of(started(() -> decideLater(charges)), this::refundAsync);
    }

    private CompletableFuture<Decision> decideLater(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        Decision refusal = statusCache.refusal(distinct);
        return refusal != null ? CompletableFuture.completedFuture(refusal) : askAsync(distinct, Operation.CHARGE);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return ask(Charge.addUp(charges), Operation.PEEK);
    }

    /**
     * {@inheritDoc}
     *
     * <p>As {@link #decideAsync}.
     */
    @Override
    public CompletionStage<Decision> peekAsync(List<Charge> charges) {
        return delivery.of(started(() -> askAsync(Charge.addUp(charges), Operation.PEEK)), decision -> {});
    }

    private static <T extends @Nullable Object> CompletableFuture<T> started(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Throws {@link StoreUnavailableException} if a policy that fails closed cannot be decided. */
    private Decision ask(List<Charge> charges, Operation operation) {
        // an alarm that could not be set, because a thread did not start, is set by the next call
        owed.ensure();
        return inquiries.ask(charges, operation);
    }

    private CompletableFuture<Decision> askAsync(List<Charge> charges, Operation operation) {
        owed.ensure();
        return inquiries.askAsync(charges, operation);
    }

    /**
     * {@return whether Redis took part in this decision; if not, this instance decided alone, or spent a lease}
     *
     * @param decision of any store
     */
    public static boolean decidedByRedis(Decision decision) {
        return decision.receipt() instanceof Receipt receipt && receipt.byServers();
    }

    /** Refunds of what was charged at once. */
    private record Debt(Stamp stamp, boolean whole) {}

    @Override
    public void refund(Decision decision, List<Charge> part) {
        Map<Debt, List<Charge>> debts = debts(decision, part);
        settle(sendRefunds(debts), ticker.nanos() + deadlineNanos);
        debts.values().forEach(charges -> charges.forEach(statusCache::forget));
    }

    /**
     * {@inheritDoc}
     *
     * <p>As {@link #decideAsync}.
     */
    @Override
    @CanIgnoreReturnValue
    public CompletionStage<@Nullable Void> refundAsync(Decision decision, List<Charge> part) {
        return delivery.of(started(() -> refundLater(decision, part)), nothing -> {})
                .minimalCompletionStage();
    }

    private CompletableFuture<@Nullable Void> refundLater(Decision decision, List<Charge> part) {
        Map<Debt, List<Charge>> debts = debts(decision, part);
        return settleAsync(sendRefunds(debts))
                .thenRun(() -> debts.values().forEach(charges -> charges.forEach(statusCache::forget)));
    }

    /** What is to be refunded by servers. What memory has charged is refunded. */
    private Map<Debt, List<Charge>> debts(Decision decision, List<Charge> part) {
        if (decision.receipt() != null && !(decision.receipt() instanceof Receipt)) {
            throw new IllegalArgumentException(
                    "a decision must be refunded to the store that made it but was of another store");
        }
        Map<Debt, List<Charge>> there = new LinkedHashMap<>();
        Receipt receipt = decision.receipt() instanceof Receipt known && known.taken() ? known : null;
        for (Charge charge : Charge.addUp(part)) {
            Charge whole = decision.charges().get(decision.indexOf(charge));
            Part paid = receipt == null ? null : receipt.of(whole);
            if (paid != null && paid.byServer()) {
                Debt debt = new Debt(paid.stamp(), charge.permits() == whole.permits());
                there.computeIfAbsent(debt, same -> new ArrayList<>(1))
                        .add(whole.policy().charge(whole.key(), charge.permits()));
            } else if (receipt != null && paid != null && paid.inMemory()) {
                local.refund(Objects.requireNonNull(receipt.memory()), whole, charge.permits());
            }
        }
        return there;
    }

    /** Sends each refund to its server. */
    private List<PendingBatch> sendRefunds(Map<Debt, List<Charge>> charged) {
        List<PendingBatch> refunds = new ArrayList<>(1);
        charged.forEach((debt, charges) -> {
            for (PendingBatch sent : router.refund(charges, debt.stamp)) {
                owed.keepIfInVain(sent, debt.stamp, debt.whole);
                refunds.add(sent);
            }
        });
        return refunds;
    }

    @Override
    public boolean reset(Policy policy, String key) {
        Charge charge = policy.charge(key);
        try {
            local.reset(policy, key);
            return settle(router.send(List.of(charge), Operation.RESET), ticker.nanos() + deadlineNanos);
        } finally {
            statusCache.forget(charge);
        }
    }

    /** Waits for completion, so that the next call sees the effect. Returns whether all have succeeded. */
    @CanIgnoreReturnValue
    private boolean settle(List<PendingBatch> commands, long deadline) {
        return settled(commands, sent -> sent.await(deadline - ticker.nanos()));
    }

    /** Completed when the next call sees the effect. */
    private CompletableFuture<@Nullable Void> settleAsync(List<PendingBatch> commands) {
        long began = ticker.nanos();
        return Timeout.await(scheduler, PendingBatch.all(commands), deadlineNanos)
                .handle((nothing, failure) -> {
                    Waited waited = Waited.until(ticker.nanos() - began, deadlineNanos, failure);
                    boolean ignored = settled(commands, sent -> sent.awaited(waited));
                    return null;
                });
    }

    private boolean settled(List<PendingBatch> commands, Function<PendingBatch, Reply> reply) {
        boolean succeeded = true;
        for (PendingBatch sent : commands) {
            try {
                Reply ignored = reply.apply(sent);
            } catch (StoreFailure e) {
                listener.failed(e.reason());
                succeeded = false;
            } catch (RuntimeException | Error e) {
                commands.forEach(each -> each.giveUp(e));
                throw e;
            }
        }
        return succeeded;
    }

    /** Closes the connections; later calls are decided as if Redis failed. The client stays open. */
    @Override
    public void close() {
        try (local;
                router) {
            owed.close();
        }
    }
}
