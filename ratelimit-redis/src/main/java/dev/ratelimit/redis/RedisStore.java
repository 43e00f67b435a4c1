package dev.ratelimit.redis;

import dev.ratelimit.CanIgnoreReturnValue;
import dev.ratelimit.Charge;
import dev.ratelimit.CheckReturnValue;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    /** The maximum time that closing the store spends on refunding leases. */
    private static final long MAX_CLOSE_NANOS = 2_000_000_000;

    /** More than an expiry is rounded up by. */
    private static final long EXPIRY_ROUNDING_NANOS = 20_000_000;

    private final Router router;
    private final LocalDecider local;
    private final StatusCache statusCache;
    private final @Nullable Leases leases;
    private final OwedRefunds owed;
    private final Ticker ticker;
    private final RedisStoreListener listener;
    private final long deadlineNanos;

    /** After this time, no server executes a charge any more. */
    private final long voidAfterNanos;

    /** Creates a store from these parts, with the builder's settings. */
    RedisStore(Router router, LocalDecider local, StatusCache statusCache, RedisStoreBuilder settings) {
        this.router = router;
        this.local = local;
        this.statusCache = statusCache;
        this.ticker = settings.ticker();
        this.listener = settings.listener();
        this.deadlineNanos = settings.deadline().toNanos();
        this.voidAfterNanos = 2 * Math.min(deadlineNanos, Long.MAX_VALUE / 4) + EXPIRY_ROUNDING_NANOS;
        this.owed = new OwedRefunds(router, ticker, settings.settings().scheduler());
        this.leases = settings.leases(new LeaseSource());
    }

    /** Charges and refunds leases without waiting. */
    private final class LeaseSource implements Leases.LeaseSource {

        @Override
        public PendingBatch charge(Charge charge) {
            return tellingFailure(router.post(List.of(charge), Operation.CHARGE));
        }

        @Override
        public PendingBatch refund(Charge charge, long atNanos) {
            return tellingFailure(owed.post(List.of(charge), new Stamp(atNanos / 1000, 0)));
        }

        private PendingBatch tellingFailure(List<PendingBatch> sent) {
            sent.forEach(RedisStore.this::tellFailure);
            return sent.get(0);
        }
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
    public boolean tryCharge(Charge charge) {
        if (leases != null && charge.permits() > 0 && leases.pay(charge) != null) {
            return true;
        }
        return decide(List.of(charge)).admitted();
    }

    @Override
    public Decision decide(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        Decision refusal = statusCache.refusal(distinct);
        if (refusal != null) {
            return refusal;
        }
        PendingDecision pending = new PendingDecision(distinct);
        return leases == null ? ask(pending, distinct, Operation.CHARGE) : pay(pending, distinct, leases);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        return ask(new PendingDecision(distinct), distinct, Operation.PEEK);
    }

    /** Spends leases where possible and asks Redis for the rest. */
    private Decision pay(PendingDecision pending, List<Charge> charges, Leases from) {
        List<Charge> rest = new ArrayList<>(charges.size());
        IdentityHashMap<Charge, Lease> paid = new IdentityHashMap<>();
        boolean admitted = false;
        try {
            for (Charge charge : charges) {
                Lease lease = charge.permits() == 0 ? null : from.pay(charge);
                if (lease == null) {
                    rest.add(charge);
                } else {
                    paid.put(charge, lease);
                    pending.paid(charge, lease, ticker.nanos());
                }
            }
            Decision decision = rest.isEmpty() ? pending.decision(true) : ask(pending, rest, Operation.CHARGE);
            admitted = decision.admitted();
            return decision;
        } finally {
            if (!admitted) {
                paid.forEach((charge, lease) -> from.giveBack(lease, charge));
            }
        }
    }

    /** Throws {@link StoreUnavailableException} if a policy that fails closed cannot be decided. */
    private Decision ask(PendingDecision pending, List<Charge> charges, Operation operation) {
        ensureAlarms();
        long deadline = ticker.nanos() + deadlineNanos;
        long asked = statusCache.now();
        List<PendingBatch> sent = router.send(charges, operation);
        // what nobody would get, should this thread fail on its way
        List<PendingBatch> open = new ArrayList<>(operation == Operation.CHARGE ? sent : List.of());
        Decision decision;
        try {
            await(pending, sent, open, deadline);
            decide(pending, open, operation, deadline);
            decision = pending.decision(operation == Operation.CHARGE);
        } catch (RuntimeException | Error e) {
            sent.forEach(each -> each.giveUp(e));
            open.forEach(this::undo);
            throw e;
        }
        learn(pending, asked, operation);
        return decision;
    }

    /** An alarm that could not be set, because a thread did not start, is set by the next call. */
    private void ensureAlarms() {
        owed.ensure();
        if (leases != null) {
            leases.ensure();
        }
    }

    private void await(PendingDecision pending, List<PendingBatch> asked, List<PendingBatch> open, long deadline) {
        for (PendingBatch sent : asked) {
            try {
                pending.answered(sent, sent.await(deadline - ticker.nanos()));
            } catch (StoreFailure e) {
                listener.failed(e.reason());
                pending.unanswered(sent, e);
                if (open.contains(sent)) {
                    undo(sent);
                    open.remove(sent);
                }
            }
        }
    }

    /** Decides what no server has answered, and gives back what servers charged if anything is refused. */
    private void decide(PendingDecision pending, List<PendingBatch> open, Operation operation, long deadline) {
        StoreFailure failure = pending.failure();
        if (failure != null) {
            try {
                local.denyIfChosen(pending.unanswered(), failure);
            } catch (StoreUnavailableException e) {
                giveBack(pending, open, deadline);
                throw e;
            }
            local.decide(pending, pending.admitted() && operation == Operation.CHARGE);
        }
        if (!pending.admitted()) {
            giveBack(pending, open, deadline);
        }
    }

    /** A decision stands, whether or not anything is learnt from it: a thread without stack or memory may fail here. */
    private void learn(PendingDecision pending, long asked, Operation operation) {
        try {
            pending.remember(statusCache, asked, operation == Operation.CHARGE);
            if (leases != null && pending.admitted() && operation == Operation.CHARGE) {
                pending.reportTo(leases);
            }
        } catch (RuntimeException | Error e) {
            // the next call asks Redis
        }
    }

    /** Gives back, sooner or later, what a server charges or may have charged for a caller who has left without its answer. */
    private void undo(PendingBatch sent) {
        long voidNanos = ticker.nanos() + voidAfterNanos;
        sent.then((late, failure) -> {
            List<Charge> charges = sent.batch().charges();
            if (failure == null && late.admitted()) {
                owed.post(charges, new Stamp(late.nowMicros(), sent.batch().id()));
            } else if (failure != null
                    && sent.mayBeExecuted()
                    && !StoreFailure.of(failure).executedNothing()) {
                charges.forEach(charge -> owed.cancel(charge, sent.batch().id(), voidNanos));
            }
        });
    }

    /**
     * Refunds the slots that admitted if another one refused, and asks for their state afterwards if time is left: a
     * server that hangs may have used up the deadline.
     */
    private void giveBack(PendingDecision pending, List<PendingBatch> open, long deadline) {
        List<PendingBatch> questions = new ArrayList<>(1);
        for (PendingBatch charged : pending.charged()) {
            if (!open.remove(charged)) {
                // it was only asked
                continue;
            }
            List<Charge> charges = charged.batch().charges();
            Stamp stamp = new Stamp(charged.reply().nowMicros(), charged.batch().id());
            owed.post(charges, stamp).forEach(this::tellFailure);
            if (deadline - ticker.nanos() > 0) {
                questions.addAll(router.post(charges, Operation.PEEK));
            }
        }
        for (PendingBatch question : questions) {
            try {
                pending.corrected(question, question.get(deadline - ticker.nanos()));
            } catch (StoreFailure e) {
                listener.failed(e.reason());
            }
        }
    }

    private void tellFailure(PendingBatch sent) {
        sent.then((reply, failure) -> {
            if (failure != null) {
                listener.failed(StoreFailure.of(failure).reason());
            }
        });
    }

    /**
     * {@return whether Redis took part in this decision; if not, this instance decided alone}
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
        if (decision.receipt() != null && !(decision.receipt() instanceof Receipt)) {
            throw new IllegalArgumentException(
                    "a decision must be refunded to the store that made it but was of another store");
        }
        Map<Debt, List<Charge>> there = new LinkedHashMap<>();
        Receipt receipt = decision.receipt() instanceof Receipt known && known.taken() ? known : null;
        for (Charge charge : Charge.addUp(part)) {
            Charge whole = decision.charges().get(decision.indexOf(charge));
            Part paid = receipt == null ? null : receipt.of(whole);
            if (paid != null && paid.onServer()) {
                Debt debt = new Debt(paid.stamp(), charge.permits() == whole.permits());
                there.computeIfAbsent(debt, same -> new ArrayList<>(1))
                        .add(whole.policy().charge(whole.key(), charge.permits()));
            } else if (receipt != null && paid != null && paid.inMemory()) {
                local.refund(Objects.requireNonNull(receipt.memory()), whole, charge.permits());
            }
        }
        refund(there);
    }

    /** Refunds each charge to its lease or to its server. */
    private void refund(Map<Debt, List<Charge>> charged) {
        List<PendingBatch> refunds = new ArrayList<>(1);
        charged.forEach((debt, charges) -> {
            List<Charge> due = new ArrayList<>(charges);
            if (leases != null) {
                due.removeIf(charge -> leases.giveBack(charge, debt.stamp.micros() * 1000));
            }
            for (PendingBatch sent : router.refund(due, debt.stamp)) {
                owed.keepIfInVain(sent, debt.stamp, debt.whole);
                refunds.add(sent);
            }
        });
        settle(refunds, ticker.nanos() + deadlineNanos);
        charged.values().forEach(charges -> charges.forEach(statusCache::forget));
    }

    @Override
    public boolean reset(Policy policy, String key) {
        Charge charge = policy.charge(key);
        Reset ended = leases == null ? null : leases.drop(charge);
        long erasedMicros = 0;
        try {
            local.reset(policy, key);
            List<PendingBatch> sent = router.send(List.of(charge), Operation.RESET);
            boolean reset = settle(sent, ticker.nanos() + deadlineNanos);
            erasedMicros = reset ? sent.get(0).reply().nowMicros() : 0;
            return reset;
        } finally {
            if (ended != null) {
                ended.ended(erasedMicros);
            }
            statusCache.forget(charge);
        }
    }

    /** Waits for completion, so that the next call sees the effect. Returns whether all have succeeded. */
    @CanIgnoreReturnValue
    private boolean settle(List<PendingBatch> commands, long deadline) {
        boolean succeeded = true;
        for (PendingBatch sent : commands) {
            try {
                sent.await(deadline - ticker.nanos());
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

    /** Refunds leases and closes the connections; later calls are decided as if Redis failed. The client stays open. */
    @Override
    public void close() {
        try (local;
                router) {
            if (leases != null) {
                leases.close(MAX_CLOSE_NANOS);
            }
            owed.close();
        }
    }
}
