package dev.ratelimit.remote;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Decides on this instance while servers do not, as each policy's {@link OnStoreFailure} says: in memory with a share of the
 * limit, by admitting, or by rejecting. Thread-safe.
 */
final class LocalDecider implements AutoCloseable {

    private static final int LOCKS = 64;

    /** Others who charge a key that has been seeded before may be in the way. */
    private static final int ATTEMPTS = 100;

    private final RateLimitStore memory;
    private final LocalLimits limits;
    private final StatusCache statusCache;
    private final Map<String, OnStoreFailure> choices;
    private final OnStoreFailure otherwise;
    private final Duration retryAfter;

    /** One of them guards the seeding of a key. */
    private final Object[] locks = Stream.generate(Object::new).limit(LOCKS).toArray();

    /**
     * Creates a decider with these choices.
     *
     * @param choices by policy name
     * @param otherwise for all other policies
     * @param retryAfter when to retry after a rejection by a policy that fails closed
     */
    LocalDecider(
            RateLimitStore memory,
            LocalLimits limits,
            StatusCache statusCache,
            Map<String, OnStoreFailure> choices,
            OnStoreFailure otherwise,
            Duration retryAfter) {
        this.memory = memory;
        this.limits = limits;
        this.statusCache = statusCache;
        this.choices = Map.copyOf(choices);
        this.otherwise = otherwise;
        this.retryAfter = retryAfter;
    }

    /**
     * Checks that none of the charges' policies fails closed.
     *
     * @throws StoreUnavailableException if one does
     */
    void denyIfChosen(List<Charge> charges, StoreFailure failure) {
        for (Charge charge : charges) {
            if (choice(charge) == OnStoreFailure.DENY) {
                throw new StoreUnavailableException(
                        charge.policy().name(), retryAfter, Objects.requireNonNull(failure.getMessage()));
            }
        }
    }

    /** Decides in memory the charges whose policies choose that; the others do not appear in the answer. */
    void decide(PendingDecision pending, boolean take) {
        List<Charge> decided = new ArrayList<>(1);
        List<Charge> single = new ArrayList<>(1);
        for (Charge charge : pending.unanswered()) {
            if (choice(charge) == OnStoreFailure.LOCAL) {
                seed(charge, limits.of(charge.policy()));
                decided.add(charge);
                single.addAll(single(charge));
            }
        }
        Decision decision = take ? memory.decide(single) : memory.peek(single);
        pending.decidedHere(decision);
        Iterator<LimitStatus> next = decision.limits().iterator();
        for (Charge charge : decided) {
            pending.decidedHere(
                    charge,
                    charge.policy().limits().stream()
                            .map(limit -> of(charge, next.next()))
                            .toList());
        }
    }

    private static LimitStatus of(Charge charge, LimitStatus status) {
        return new LimitStatus(
                charge,
                status.limit(),
                status.remaining(),
                status.retryAfterNanos(),
                status.nextAvailableNanos(),
                status.fullAfterNanos());
    }

    /** Refunds these permits of a charge that this decision took in memory. */
    void refund(Decision decision, Charge whole, long permits) {
        memory.refund(
                decision,
                single(whole).stream()
                        .map(taken ->
                                taken.policy().charge(taken.key(), part(taken.permits(), permits, whole.permits())))
                        .toList());
    }

    /** What was taken for this part of a cost, rounded down: all parts together refund no more than was taken. */
    private static long part(long taken, long permits, long cost) {
        return taken == cost
                ? permits
                : BigInteger.valueOf(taken)
                        .multiply(BigInteger.valueOf(permits))
                        .divide(BigInteger.valueOf(cost))
                        .longValueExact();
    }

    /** Forgets the local usage of the key. */
    void reset(Policy policy, String key) {
        limits.of(policy).forEach(limit -> memory.reset(limit, key));
    }

    /** A charge to each limit's share; a cost that exceeds the share but not the whole limit takes the entire share. */
    private List<Charge> single(Charge charge) {
        List<Policy> single = limits.of(charge.policy());
        List<Charge> charges = new ArrayList<>(single.size());
        for (int i = 0; i < single.size(); i++) {
            long whole = charge.policy().limits().get(i).capacity();
            long share = single.get(i).limits().get(0).capacity();
            long permits = charge.permits() <= whole ? Math.min(charge.permits(), share) : charge.permits();
            charges.add(single.get(i).charge(charge.key(), permits));
        }
        return charges;
    }

    /**
     * Charges locally, as of now, what was used when its server last answered, so that none of it is refilled early. What
     * this instance admitted on its own stays charged, because the server does not know it. Others who ask for the key meanwhile
     * wait, as they would have a full budget.
     */
    private void seed(Charge charge, List<Policy> shares) {
        if (statusCache.known(charge) == null) {
            return;
        }
        synchronized (locks[(charge.key().hashCode() & Integer.MAX_VALUE) % locks.length]) {
            StatusCache.Known known = statusCache.known(charge);
            if (known != null) {
                seed(charge, shares, known);
                statusCache.remove(known);
            }
        }
    }

    private void seed(Charge charge, List<Policy> shares, StatusCache.Known known) {
        Policy former = known.charge().policy();
        for (int i = 0; i < known.statuses().size(); i++) {
            LimitStatus status = known.statuses().get(i);
            int now = indexOf(former, i, charge.policy());
            // permits held on the server come back there, and would stay in use here
            if (now >= 0
                    && statusCache.age(known) < status.fullAfterNanos()
                    && !status.limit().concurrency()) {
                Policy limit = shares.get(now);
                long capacity = status.limit().capacity();
                long used = limit.algorithms().get(0).share(capacity - status.remaining(), capacity);
                raise(limit.charge(charge.key(), 0), used);
            }
        }
    }

    /**
     * Which limit the former one is now: the one with its period, in their order if there are several, or of its rank, where a
     * store keeps its state; -1 for none.
     */
    private static int indexOf(Policy former, int index, Policy now) {
        if (former.equals(now)) {
            return index;
        }
        long period = former.limits().get(index).rate().periodNanos();
        long before = former.limits().stream()
                .limit(index)
                .filter(limit -> limit.rate().periodNanos() == period)
                .count();
        int ofPeriod = -1;
        int ofRank = -1;
        for (int i = 0; i < now.limits().size(); i++) {
            if (now.limits().get(i).rate().periodNanos() == period && before-- >= 0) {
                ofPeriod = i;
            }
            ofRank = now.rank(i) == former.rank(index) ? i : ofRank;
        }
        return ofPeriod >= 0 ? ofPeriod : ofRank;
    }

    /** Charges until at least this many permits are used, or all of them. */
    private void raise(Charge charge, long used) {
        boolean done = false;
        for (int attempt = 0; attempt < ATTEMPTS && !done; attempt++) {
            LimitStatus here = memory.peek(List.of(charge)).limits().get(0);
            long missing = used - (here.limit().capacity() - here.remaining());
            long take = Math.min(missing, here.remaining());
            // refused if others have used some of it meanwhile
            done = take <= 0 || memory.tryCharge(charge.policy().charge(charge.key(), take));
        }
    }

    /** Ends the sweeping of the memory, which can still be used. */
    @Override
    public void close() {
        memory.close();
    }

    private OnStoreFailure choice(Charge charge) {
        return choices.getOrDefault(charge.policy().name(), otherwise);
    }
}
