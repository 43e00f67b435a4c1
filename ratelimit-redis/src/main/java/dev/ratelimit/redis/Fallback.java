package dev.ratelimit.redis;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.OnStoreFailure;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.StoreUnavailableException;
import dev.ratelimit.redis.LocalLimits.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What holds while Redis does not decide: each policy's choice, which is to decide in memory with a share of the limit,
 * not to apply, or not to be passed. Thread-safe.
 */
final class Fallback {

    private final RateLimitStore memory;
    private final LocalLimits limits;
    private final Recent recent;
    private final Map<String, OnStoreFailure> choices;
    private final OnStoreFailure otherwise;
    private final Duration retryAfter;

    /**
     * With these choices.
     *
     * @param choices by the name of the policy
     * @param otherwise for the others
     * @param retryAfter when to come back to a policy that is not to be passed
     */
    Fallback(
            RateLimitStore memory,
            LocalLimits limits,
            Recent recent,
            Map<String, OnStoreFailure> choices,
            OnStoreFailure otherwise,
            Duration retryAfter) {
        this.memory = memory;
        this.limits = limits;
        this.recent = recent;
        this.choices = Map.copyOf(choices);
        this.otherwise = otherwise;
        this.retryAfter = retryAfter;
    }

    /**
     * Throws if one of these charges' policies is not to be passed now.
     *
     * @throws StoreUnavailableException then
     */
    void denyIfChosen(List<Charge> charges, StoreFailure failure) {
        for (Charge charge : charges) {
            if (choice(charge) == OnStoreFailure.DENY) {
                throw new StoreUnavailableException(
                        charge.policy().name(), retryAfter, Objects.requireNonNull(failure.getMessage()));
            }
        }
    }

    /** Decides the charges that are decided in memory; the others have no part in the answer. */
    void decide(Round round, boolean take) {
        List<Charge> decided = new ArrayList<>(1);
        List<Charge> single = new ArrayList<>(1);
        for (Charge charge : round.unanswered()) {
            if (choice(charge) == OnStoreFailure.LOCAL) {
                seed(charge, limits.of(charge.policy()));
                decided.add(charge);
                single.addAll(single(charge));
            }
        }
        Decision decision = take ? memory.decide(single) : memory.peek(single);
        IdentityHashMap<Charge, List<LimitStatus>> statuses = new IdentityHashMap<>();
        Iterator<LimitStatus> next = decision.limits().iterator();
        for (Charge charge : decided) {
            Policy policy = limits.of(charge.policy()).policy();
            statuses.put(
                    charge,
                    policy.limits().stream()
                            .map(limit -> of(policy, next.next()))
                            .toList());
        }
        round.decidedHere(decision.admitted(), decision.atNanos(), statuses);
    }

    private static LimitStatus of(Policy policy, LimitStatus status) {
        return new LimitStatus(
                policy,
                status.limit(),
                status.remaining(),
                status.retryAfterNanos(),
                status.nextAvailableNanos(),
                status.fullAfterNanos());
    }

    /** Gives back what {@link #decide} took of these charges, {@code atNanos} being its time. */
    void refund(List<Charge> charges, long atNanos) {
        List<Charge> single = charges.stream()
                .filter(charge -> choice(charge) == OnStoreFailure.LOCAL)
                .flatMap(charge -> single(charge).stream())
                .toList();
        memory.refund(single, new Decision(true, List.of(), atNanos));
    }

    /** The time in memory, so long ago. */
    long ago(long nanos) {
        return memory.peek(List.of()).atNanos() - nanos;
    }

    /** Forgets what the key has used here. */
    void reset(Policy policy, String key) {
        limits.of(policy).single().forEach(limit -> memory.reset(limit, key));
    }

    /** A charge of each limit's share; a price that only the whole limit can bear takes all of the share. */
    private List<Charge> single(Charge charge) {
        List<Policy> single = limits.of(charge.policy()).single();
        List<Charge> charges = new ArrayList<>(single.size());
        for (int i = 0; i < single.size(); i++) {
            long whole = charge.policy().limits().get(i).capacity();
            long most = single.get(i).limits().get(0).capacity();
            long permits = charge.permits() <= whole ? Math.min(charge.permits(), most) : charge.permits();
            charges.add(single.get(i).charge(charge.key(), permits));
        }
        return charges;
    }

    /** What was used when Redis answered last is used here, too; as of now, so that none of it comes back early. */
    private void seed(Charge charge, Share share) {
        Recent.Known known = recent.remove(charge);
        if (known == null) {
            return;
        }
        int count = Math.min(known.statuses().size(), share.single().size());
        for (int i = 0; i < count; i++) {
            LimitStatus status = known.statuses().get(i);
            Policy limit = share.single().get(i);
            memory.reset(limit, charge.key());
            if (recent.age(known) < status.fullAfterNanos()) {
                long capacity = status.limit().capacity();
                long used = limit.limits().get(0).share(capacity - status.remaining(), capacity);
                memory.tryCharge(limit.charge(charge.key(), used));
            }
        }
    }

    private OnStoreFailure choice(Charge charge) {
        return choices.getOrDefault(charge.policy().name(), otherwise);
    }
}
