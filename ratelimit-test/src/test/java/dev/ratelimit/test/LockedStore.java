package dev.ratelimit.test;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimitStore;
import dev.ratelimit.Ticker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The simplest store: a map under one lock, which forgets nothing. It shows what a store must do, as one on a database
 * does in a transaction. Each call reads the clocks once, under the lock.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
class LockedStore implements RateLimitStore {

    /** A state and the limit that wrote it. */
    private record Kept(LimitAlgorithm limit, long[] state) {}

    /** What a call asks of one limit. */
    private record Asked(Charge charge, Object budget, LimitAlgorithm limit, long[] state, long now) {

        boolean admitted() {
            return limit.admits(state, 0, charge.permits(), now);
        }

        LimitStatus status(boolean all) {
            LimitState stands = new LimitState(limit, state, 0);
            return all ? stands.admitted(charge, now) : stands.refused(charge, charge.permits(), now);
        }
    }

    /** One reading of both clocks, which is also the receipt of a charge. */
    private record Moment(long nanos, long epochNanos) {

        long on(LimitAlgorithm limit) {
            return limit.wallClock() ? epochNanos : nanos;
        }
    }

    /** Identifies the budget of a key under one of a policy's limits. */
    private record Budget(String policy, int rank, String key) {}

    private final Ticker ticker;
    private final Map<Object, Kept> budgets = new HashMap<>();

    LockedStore(Ticker ticker) {
        this.ticker = ticker;
    }

    Object budget(String policy, int rank, String key) {
        return new Budget(policy, rank, key);
    }

    @Override
    public Decision decide(List<Charge> charges) {
        return decide(charges, true);
    }

    @Override
    public Decision peek(List<Charge> charges) {
        return decide(charges, false);
    }

    private synchronized Decision decide(List<Charge> charges, boolean take) {
        List<Charge> distinct = Charge.addUp(charges);
        Moment moment = new Moment(ticker.nanos(), ticker.epochNanos());
        List<Asked> all = distinct.stream()
                .flatMap(charge ->
                        IntStream.range(0, charge.policy().limits().size()).mapToObj(i -> ask(charge, i, moment)))
                .toList();
        boolean admitted = all.stream().filter(Asked::admitted).count() == all.size();
        boolean taken = admitted && take;
        if (!admitted && take) {
            all.forEach(asked -> penalize(asked, all));
        }
        List<LimitStatus> limits = all.stream()
                .map(asked -> (taken && asked.charge().permits() > 0 ? charged(asked) : asked).status(admitted))
                .toList();
        return new Decision(admitted, distinct, limits, taken ? moment : null);
    }

    /** The state as the limit sees it: the stored one, a new one, or that of another limit, converted. */
    private Asked ask(Charge charge, int number, Moment moment) {
        LimitAlgorithm limit = charge.policy().algorithms().get(number);
        Object budget = budget(charge.policy().name(), charge.policy().rank(number), charge.key());
        Kept kept = budgets.get(budget);
        long now = moment.on(limit);
        long[] state;
        if (kept == null) {
            state = new long[limit.stateSize()];
            limit.clear(state, 0, now);
        } else if (kept.limit().equals(limit)) {
            state = kept.state();
        } else {
            state = new LimitState(kept.limit(), kept.state(), 0).carriedTo(limit, moment.on(kept.limit()), now);
        }
        return new Asked(charge, budget, limit, state, now);
    }

    private Asked charged(Asked asked) {
        long permits = asked.charge().permits();
        long[] state = asked.limit().grow(asked.state(), 0, permits, asked.now());
        asked.limit().charge(state, 0, permits, asked.now());
        budgets.put(asked.budget(), new Kept(asked.limit(), state));
        return new Asked(asked.charge(), asked.budget(), asked.limit(), state, asked.now());
    }

    /** Starts the penalty that this limit carries if its policy refuses. */
    private void penalize(Asked asked, List<Asked> all) {
        boolean refuses =
                all.stream().anyMatch(other -> other.charge().sameBudget(asked.charge()) && !other.admitted());
        if (asked.limit() instanceof Penalty penalty
                && refuses
                && asked.charge().permits() > 0) {
            penalty.refuse(asked.state(), 0, asked.now());
            budgets.put(asked.budget(), new Kept(penalty, asked.state()));
        }
    }

    @Override
    public synchronized void refund(Decision decision, List<Charge> part) {
        List<Charge> distinct = Charge.addUp(part);
        distinct.forEach(decision::indexOf);
        if (decision.receipt() instanceof Moment then) {
            Moment moment = new Moment(ticker.nanos(), ticker.epochNanos());
            for (Charge charge : distinct) {
                List<LimitAlgorithm> paid = charge.policy().algorithms();
                for (int i = 0; i < paid.size(); i++) {
                    Kept kept = budgets.get(
                            budget(charge.policy().name(), charge.policy().rank(i), charge.key()));
                    if (kept != null) {
                        long now = moment.on(kept.limit());
                        new LimitState(kept.limit(), kept.state(), 0)
                                .refund(paid.get(i), charge.permits(), now - then.on(kept.limit()), now);
                    }
                }
            }
        }
    }

    @Override
    public synchronized boolean reset(Policy policy, String key) {
        for (int i = 0; i < policy.limits().size(); i++) {
            budgets.remove(budget(policy.name(), policy.rank(i), key));
        }
        return true;
    }
}
