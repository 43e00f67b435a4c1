package dev.ratelimit.remote;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Scheduler;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.remote.Request.Waited;
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
 * A store on other servers, which may answer late or not at all. A decision never waits longer than the deadline. What no server
 * has answered by then, or is known to fail, each policy's {@link dev.ratelimit.OnStoreFailure} decides; after some failures, a
 * server is not asked for a while. What a server charges for a caller who has left is given back.
 *
 * <p>What is about a protocol is left to {@link Servers}. Thread-safe.
 */
@CheckReturnValue
public class RemoteStore implements RateLimitStore {

    private static final int KNOWN_KEYS = 1 << 17;

    private final Servers servers;
    private final RemoteStoreSettings settings;
    private final Sender sender;
    private final LocalDecider local;
    private final StatusCache statusCache;
    private final OwedRefunds owed;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final long deadlineNanos;
    private final Inquiries inquiries;
    private final Delivery delivery;

    /**
     * Creates a store.
     *
     * @param servers that decide, which the store closes
     * @param settings with which they were created, too
     * @throws IllegalArgumentException if the local share is not valid
     */
    public RemoteStore(Servers servers, RemoteStoreSettings settings) {
        this.servers = servers;
        this.settings = settings;
        this.ticker = settings.ticker();
        this.scheduler = settings.scheduler();
        this.deadlineNanos = settings.deadlineNanos();
        this.statusCache = new StatusCache(ticker, KNOWN_KEYS, settings.denyCache.toNanos());
        this.local = new LocalDecider(
                InMemoryStore.builder().ticker(ticker).scheduler(scheduler).build(),
                new LocalLimits(settings.localShare),
                statusCache,
                settings.onFailure,
                settings.otherwise,
                settings.openFor);
        this.sender = new Sender(servers, settings);
        this.owed = new OwedRefunds(sender, ticker, scheduler);
        this.inquiries = new Inquiries(sender, owed, local, statusCache, settings);
        this.delivery = new Delivery(settings.executor, scheduler);
    }

    /**
     * Peeks at a charge, so that the first request finds everything warmed up. What it answers does not matter.
     *
     * @param first any charge
     * @param patienceNanos how long to wait for the answer
     */
    protected final void warmUp(Charge first, long patienceNanos) {
        long end = ticker.nanos() + patienceNanos;
        for (Request sent : sender.send(List.of(first), Operation.PEEK)) {
            // one that never leaves would count as in flight forever
            sent.endBy(patienceNanos);
            try {
                Answer ignored = sent.get(end - ticker.nanos());
            } catch (StoreFailure e) {
                // requests will find out whether the server fails
            }
        }
    }

    /**
     * {@return whether all servers answer that were asked so far} The keys of a server that does not are decided
     * without it.
     */
    public boolean available() {
        return servers.available();
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
     * {@linkplain RemoteStoreBuilder#executor executor}.
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
     * {@return whether a server took part in this decision; if not, this instance decided alone, or spent a lease}
     *
     * @param decision of any store
     */
    public static boolean decidedByServers(Decision decision) {
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
    private List<Request> sendRefunds(Map<Debt, List<Charge>> charged) {
        List<Request> refunds = new ArrayList<>(1);
        charged.forEach((debt, charges) -> {
            for (Request sent : sender.refund(charges, debt.stamp)) {
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
            return settle(sender.send(List.of(charge), Operation.RESET), ticker.nanos() + deadlineNanos);
        } finally {
            statusCache.forget(charge);
        }
    }

    /** Waits for completion, so that the next call sees the effect. Returns whether all have succeeded. */
    @CanIgnoreReturnValue
    private boolean settle(List<Request> commands, long deadline) {
        return settled(commands, sent -> sent.await(deadline - ticker.nanos()));
    }

    /** Completed when the next call sees the effect. */
    private CompletableFuture<@Nullable Void> settleAsync(List<Request> commands) {
        long began = ticker.nanos();
        return Timeout.await(scheduler, Request.all(commands), deadlineNanos).handle((nothing, failure) -> {
            Waited waited = Waited.until(ticker.nanos() - began, deadlineNanos, failure);
            boolean ignored = settled(commands, sent -> sent.awaited(waited));
            return null;
        });
    }

    private boolean settled(List<Request> commands, Function<Request, Answer> answer) {
        boolean succeeded = true;
        for (Request sent : commands) {
            try {
                Answer ignored = answer.apply(sent);
            } catch (StoreFailure e) {
                settings.listener.failed(e.reason());
                succeeded = false;
            } catch (RuntimeException | Error e) {
                commands.forEach(each -> each.giveUp(e));
                throw e;
            }
        }
        return succeeded;
    }

    /** Closes the connections; later calls are decided as if all servers failed. */
    @Override
    public void close() {
        try (local;
                servers) {
            owed.close();
        }
    }
}
