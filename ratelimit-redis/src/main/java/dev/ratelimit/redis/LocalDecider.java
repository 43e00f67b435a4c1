package dev.ratelimit.redis;

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

/**
 * Decides on this instance while Redis does not, as each policy's {@link OnStoreFailure} says: in memory with a share of the
 * limit, by admitting, or by rejecting. Thread-safe.
 */
final class LocalDecider implements AutoCloseable {

    private final RateLimitStore memory;
    private final LocalLimits limits;
    private final StatusCache statusCache;
    private final Map<String, OnStoreFailure> choices;
    private final OnStoreFailure otherwise;
    private final Duration retryAfter;

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
     * Charges locally, as of now, what was used when Redis last answered, so that none of it is refilled early. What
     * this instance admitted on its own stays charged, because Redis does not know it.
     */
    private void seed(Charge charge, List<Policy> shares) {
        StatusCache.Known known = statusCache.remove(charge);
        if (known == null) {
            return;
        }
        int count = Math.min(known.statuses().size(), shares.size());
        for (int i = 0; i < count; i++) {
            LimitStatus status = known.statuses().get(i);
            Policy limit = shares.get(i);
            // permits held on the server come back there, and would stay in use here
            if (statusCache.age(known) < status.fullAfterNanos()
                    && !status.limit().concurrency()) {
                long capacity = status.limit().capacity();
                long used = limit.algorithms().get(0).share(capacity - status.remaining(), capacity);
                raise(limit.charge(charge.key(), 0), used);
            }
        }
    }

    /** Charges until at least this many permits are used. */
    private void raise(Charge charge, long used) {
        LimitStatus here = memory.peek(List.of(charge)).limits().get(0);
        long missing = used - (here.limit().capacity() - here.remaining());
        if (missing > 0) {
            // refused only if others have used it up meanwhile
            boolean unused = memory.tryCharge(charge.policy().charge(charge.key(), missing));
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
