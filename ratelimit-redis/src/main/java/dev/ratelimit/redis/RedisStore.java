package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.Ticker;
import dev.ratelimit.redis.Node.Sent;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the state of keys in Redis or Valkey, so that all instances of an application have the same limits. Each decision
 * is one script on the server, by the server's clock, for all limits of all policies: all or nothing. In a cluster it is
 * one for each slot concerned, at the same time, and what one of them took is given back when another refuses.
 *
 * <p>A decision never waits longer than the deadline. When Redis has not answered by then, or is known to fail, each policy
 * has its choice ({@link dev.ratelimit.OnStoreFailure}); after some failures Redis is left alone for a while.
 *
 * <p>Thread-safe. Close it before the client.
 */
public final class RedisStore implements RateLimitStore {

    /** Why Redis did not decide. */
    public enum Failure {
        /** There was no answer before the deadline. */
        TIMEOUT,
        /** There is no connection. */
        CONNECTION,
        /** As many requests as are allowed wait for an answer already. */
        SATURATED,
        /** It failed too often a moment ago, and was not asked. */
        OPEN,
        /** It is a replica. */
        READONLY,
        /** It is reading its data from disk. */
        LOADING,
        /** It is busy with somebody's long script. */
        BUSY,
        /** It has no memory left. */
        OOM,
        /** It does not know the user, or the user may not do this. */
        AUTH,
        /** The cluster is down, or a replica has lost its master. */
        CLUSTER,
        /** The slot is being moved, and only some of the keys are there yet. */
        MOVING,
        /** A key of ours holds what is not ours. */
        WRONG_TYPE,
        /** The thread was interrupted. */
        INTERRUPTED,
        /** Anything else. */
        ERROR;

        /** The name in metrics. */
        public String tag() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Is told what goes wrong. Called on the threads of requests: it must be quick, and not throw. */
    public interface Listener {

        /** Redis did not decide a request, or a part of it. */
        default void failed(Failure reason) {}

        /** From now on a server is not asked, since it fails; or is asked again. */
        default void changed() {}
    }

    private final Servers servers;
    private final Fallback fallback;
    private final Recent recent;
    private final @Nullable Leases leases;
    private final Ticker ticker;
    private final Listener listener;
    private final long deadlineNanos;

    /** A store of these parts, with the builder's settings. */
    RedisStore(Servers servers, Fallback fallback, Recent recent, RedisStoreBuilder settings) {
        this.servers = servers;
        this.fallback = fallback;
        this.recent = recent;
        this.ticker = settings.ticker();
        this.listener = settings.listener();
        this.deadlineNanos = settings.deadline().toNanos();
        this.leases = settings.leases(new Bank());
    }

    /** Leases are asked for and given back without anybody waiting. */
    private final class Bank implements Leases.Bank {

        @Override
        public List<Sent> charge(Charge charge) {
            return servers.send(List.of(charge), Operation.CHARGE, 0);
        }

        @Override
        public void refund(Charge charge, long atNanos) {
            for (Sent sent : servers.send(List.of(charge), Operation.REFUND, atNanos / 1000)) {
                sent.then(() -> quietly(sent, 0));
            }
        }
    }

    /**
     * A store on the server of this client, or on the master that its sentinels name.
     *
     * @param client for this store alone: its options are changed, so that it queues nothing and sends nothing twice
     */
    public static RedisStoreBuilder builder(RedisClient client) {
        return new RedisStoreBuilder(new Connectors.Single(client));
    }

    /**
     * A store on the cluster of this client.
     *
     * @param client for this store alone: its options are changed, so that it queues nothing and sends nothing twice
     */
    public static RedisStoreBuilder builder(RedisClusterClient client) {
        return new RedisStoreBuilder(new Connectors.Cluster(client));
    }

    /**
     * Throws if Redis cannot keep this limit as exactly as it says.
     *
     * @throws IllegalArgumentException with the reason
     */
    public static void check(Limit limit) {
        RedisLimit.of(limit);
    }

    /** Whether all servers that were asked so far answer; while one does not, its keys are decided without it. */
    public boolean available() {
        return servers.available();
    }

    /** Begins to connect, so that the first request need not wait for that. Does not wait either; ends in any case. */
    public CompletionStage<?> connect() {
        return servers.connect();
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
        Decision refusal = recent.refusal(distinct);
        if (refusal != null) {
            return refusal;
        }
        Round round = new Round(distinct);
        return leases == null ? ask(round, distinct, Operation.CHARGE) : pay(round, distinct, leases);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        List<Charge> distinct = Charge.addUp(charges);
        return ask(new Round(distinct), distinct, Operation.PEEK);
    }

    /** Pays what it can from leases, and asks for the rest. */
    private Decision pay(Round round, List<Charge> charges, Leases accounts) {
        List<Charge> rest = new ArrayList<>(charges.size());
        IdentityHashMap<Charge, Lease> paid = new IdentityHashMap<>();
        for (Charge charge : charges) {
            Lease lease = charge.permits() == 0 ? null : accounts.pay(charge);
            if (lease == null) {
                rest.add(charge);
            } else {
                paid.put(charge, lease);
                round.paid(charge, lease, ticker.nanos());
            }
        }
        if (rest.isEmpty()) {
            return round.decision();
        }
        boolean admitted = false;
        try {
            Decision decision = ask(round, rest, Operation.CHARGE);
            admitted = decision.admitted();
            return decision;
        } finally {
            if (!admitted) {
                paid.forEach((charge, lease) -> accounts.giveBack(lease, charge));
            }
        }
    }

    /** Throws {@link StoreUnavailableException} when a policy that is not to be passed then cannot be decided. */
    private Decision ask(Round round, List<Charge> charges, Operation operation) {
        long deadline = ticker.nanos() + deadlineNanos;
        StoreFailure failure = null;
        for (Sent sent : servers.send(charges, operation, 0)) {
            try {
                round.answered(sent, sent.await(deadline - ticker.nanos()));
            } catch (StoreFailure e) {
                listener.failed(e.reason());
                round.unanswered(sent);
                failure = e;
            }
        }
        if (failure != null) {
            decideWithout(round, operation, failure, deadline);
        }
        if (!round.admitted() && operation == Operation.CHARGE) {
            giveBack(round, deadline);
        }
        round.remember(recent);
        if (leases != null && round.admitted() && operation == Operation.CHARGE) {
            round.tell(leases);
        }
        return round.decision();
    }

    private void decideWithout(Round round, Operation operation, StoreFailure failure, long deadline) {
        try {
            fallback.denyIfChosen(round.unanswered(), failure);
        } catch (StoreUnavailableException e) {
            if (operation == Operation.CHARGE) {
                giveBack(round, deadline);
            }
            throw e;
        }
        fallback.decide(round, round.admitted() && operation == Operation.CHARGE);
    }

    /** Slots that admitted give back what another one refused, and say how they stand then. */
    private void giveBack(Round round, long deadline) {
        List<Sent> refunds = new ArrayList<>(1);
        List<Sent> questions = new ArrayList<>(1);
        for (Sent charged : round.charged()) {
            Batch batch = charged.batch();
            long atMicros = charged.answer().join().nowMicros();
            refunds.add(charged.node().send(batch, Operation.REFUND, atMicros));
            questions.add(charged.node().send(batch, Operation.PEEK, 0));
        }
        settle(refunds, deadline);
        for (Sent question : questions) {
            try {
                round.corrected(question, question.await(deadline - ticker.nanos()));
            } catch (StoreFailure e) {
                listener.failed(e.reason());
            }
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // what memory answers names a policy of its own, which may be equal
    public void refund(List<Charge> charges, Decision decision) {
        if (!decision.admitted()) {
            return;
        }
        List<Charge> there = new ArrayList<>();
        List<Charge> here = new ArrayList<>();
        for (Charge charge : Charge.addUp(charges)) {
            LimitStatus status = status(charge, decision);
            if (status != null) {
                (status.policy() == charge.policy() ? there : here).add(charge);
            }
        }
        if (!here.isEmpty()) {
            boolean allHere = decision.atNanos() < 0;
            long ago = Math.max(0, ticker.epochNanos() - decision.atNanos());
            fallback.refund(here, allHere ? Round.nanosHere(decision.atNanos()) : fallback.ago(ago));
        }
        if (leases != null) {
            there.removeIf(charge -> leases.giveBack(charge, decision.atNanos()));
        }
        if (!there.isEmpty()) {
            there.forEach(recent::remove);
            settle(servers.send(there, Operation.REFUND, decision.atNanos() / 1000), ticker.nanos() + deadlineNanos);
        }
    }

    private static @Nullable LimitStatus status(Charge charge, Decision decision) {
        String name = charge.policy().name();
        return decision.limits().stream()
                .filter(status -> status.policy().name().equals(name))
                .findFirst()
                .orElse(null);
    }

    @Override
    public void reset(Policy policy, String key) {
        Charge charge = policy.charge(key);
        recent.remove(charge);
        if (leases != null) {
            leases.drop(charge);
        }
        fallback.reset(policy, key);
        settle(servers.send(List.of(charge), Operation.RESET, 0), ticker.nanos() + deadlineNanos);
    }

    /** Waits for what nobody needs the answer of, so that who asks next finds it done. */
    private void settle(List<Sent> commands, long deadline) {
        commands.forEach(sent -> quietly(sent, deadline - ticker.nanos()));
    }

    private void quietly(Sent sent, long patienceNanos) {
        try {
            sent.await(patienceNanos);
        } catch (StoreFailure e) {
            listener.failed(e.reason());
        }
    }

    /**
     * Gives leases back and closes the connection; whatever is asked afterwards is decided as if Redis failed. The client
     * stays open.
     */
    @Override
    public void close() {
        if (leases != null) {
            List<Sent> refunds = new ArrayList<>();
            for (Lease lease : leases.close()) {
                Charge unspent = lease.end();
                if (unspent != null) {
                    refunds.addAll(servers.send(List.of(unspent), Operation.REFUND, lease.paidNanos() / 1000));
                }
            }
            settle(refunds, ticker.nanos() + deadlineNanos);
        }
        servers.close();
    }
}
