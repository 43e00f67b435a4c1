package dev.ratelimit.memory.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The simplest store that decides as a store must: a map of states, to which calls are applied one after another, each at
 * one moment. Forgets nothing.
 */
final class Model {

    /** One reading of both clocks. */
    record Moment(long nanos, long epochNanos) {

        long on(LimitAlgorithm limit) {
            return limit.wallClock() ? epochNanos : nanos;
        }
    }

    /** Identifies the budget of a key under one of a policy's limits. */
    private record Budget(String policy, int limit, String key) {}

    /** A state and the limit that wrote it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Kept(LimitAlgorithm limit, long[] state) {

        Kept copy() {
            return new Kept(limit, state.clone());
        }

        void look(Moment moment) {
            limit.admits(state, 0, 0, moment.on(limit));
        }
    }

    /** What refunds need to know of a decision. */
    private record Receipt(Moment moment, boolean epochRead) {

        long age(LimitAlgorithm limit, Moment now) {
            return limit.wallClock() && epochRead ? now.epochNanos - moment.epochNanos : now.nanos - moment.nanos;
        }
    }

    /** What a charge asks of one limit. */
    private final class Asked {
        private final Charge charge;
        private final Budget budget;
        private final LimitAlgorithm limit;
        private final long now;
        private final @Nullable Kept former;
        private final boolean changed;
        private final boolean admitted;
        private boolean sooner;
        private long[] state;

        Asked(Charge charge, int number, Moment moment) {
            this.charge = charge;
            this.budget = new Budget(charge.policy().name(), number, charge.key());
            this.limit = charge.policy().algorithms().get(number);
            this.now = moment.on(limit);
            this.former = known(budget);
            this.changed = former != null && !former.limit.equals(limit);
            if (former == null) {
                state = new long[limit.stateSize()];
                limit.clear(state, 0, now);
            } else if (changed) {
                former.look(moment);
                state = new LimitState(former.limit, former.state, 0).carriedTo(limit, moment.on(former.limit), now);
            } else {
                state = former.state;
            }
            this.admitted = limit.admits(state, 0, charge.permits(), now);
            if (changed && former != null && !admitted) {
                long formerFull = former.limit.fullAfterNanos(former.state, 0, moment.on(former.limit));
                sooner = limit.fullAfterNanos(state, 0, now) < formerFull;
            }
        }

        boolean onWallTime() {
            return limit.wallClock() || (former != null && former.limit.wallClock());
        }

        void charge() {
            if (charge.permits() > 0) {
                state = limit.grow(state, charge.permits(), now);
                limit.charge(state, 0, charge.permits(), now);
                write();
            }
        }

        void write() {
            budgets.put(budget, new Kept(limit, state));
        }

        LimitStatus status(boolean all) {
            LimitState stands = new LimitState(limit, state, 0);
            return all ? stands.admitted(charge, now) : stands.refused(charge, charge.permits(), now);
        }
    }

    private final Map<Budget, Kept> budgets;
    private final Map<Integer, Receipt> receipts;
    private String expected = "another result";

    Model() {
        this(Map.of(), Map.of());
    }

    private Model(Map<Budget, Kept> budgets, Map<Integer, Receipt> receipts) {
        this.budgets = new HashMap<>(budgets);
        this.receipts = new HashMap<>(receipts);
    }

    /** What the result of this call would be. */
    String expected(Call call, Moment moment) {
        Model next = new Model(budgets, receipts);
        next.decide(call, moment);
        return next.expected;
    }

    /** The model after a call at this moment; {@code null} if the call would have another result. */
    @Nullable
    Model after(Call call, Moment moment) {
        Model next = new Model(budgets, receipts);
        boolean same = switch (call.step.kind()) {
            case TRY_ONE, TRY, DECIDE, PEEK -> next.decide(call, moment);
            case REFUND -> next.refund(call, moment);
            case RESET -> next.reset(call.charges.get(0), moment);
            default -> true;
        };
        return same ? next : null;
    }

    /** The state of a budget, which may be written. */
    private @Nullable Kept known(Budget budget) {
        return budgets.computeIfPresent(budget, (same, kept) -> kept.copy());
    }

    private boolean decide(Call call, Moment moment) {
        List<Asked> all = new ArrayList<>();
        for (Charge charge : Charge.addUp(call.charges)) {
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                all.add(new Asked(charge, i, moment));
            }
        }
        boolean admitted = all.stream().allMatch(asked -> asked.admitted);
        if (call.thrown == null && admitted != call.admitted) {
            return false;
        }
        if (call.step.kind() != Step.Kind.PEEK) {
            if (admitted) {
                all.forEach(Asked::charge);
                boolean epochRead = all.stream().anyMatch(Asked::onWallTime);
                receipts.put(call.step.id(), new Receipt(moment, epochRead));
            } else if (all.stream().allMatch(asked -> asked.admitted || asked.changed)) {
                all.stream().filter(asked -> asked.sooner).forEach(Asked::write);
            }
        }
        Decision decision = call.decision;
        if (call.thrown != null || decision == null) {
            return true;
        }
        List<LimitStatus> limits =
                all.stream().map(asked -> asked.status(admitted)).toList();
        expected = limits.toString();
        boolean same = decision.limits().size() == limits.size();
        for (int i = 0; same && i < limits.size(); i++) {
            same = same(limits.get(i), decision.limits().get(i));
        }
        return same;
    }

    private static boolean same(LimitStatus one, LimitStatus other) {
        return one.remaining() == other.remaining()
                && one.retryAfterNanos() == other.retryAfterNanos()
                && one.nextAvailableNanos() == other.nextAvailableNanos()
                && one.fullAfterNanos() == other.fullAfterNanos();
    }

    private boolean refund(Call call, Moment moment) {
        Call refunded = call.refunded;
        Receipt receipt = refunded == null ? null : receipts.get(refunded.step.id());
        if (receipt != null) {
            for (Charge charge : Charge.addUp(call.charges)) {
                List<LimitAlgorithm> paid = charge.policy().algorithms();
                for (int i = 0; i < paid.size(); i++) {
                    Kept kept = known(new Budget(charge.policy().name(), i, charge.key()));
                    if (kept != null) {
                        kept.look(moment);
                        long age = receipt.age(kept.limit, moment);
                        new LimitState(kept.limit, kept.state, 0)
                                .refund(paid.get(i), charge.permits(), age, moment.on(kept.limit));
                    }
                }
            }
        }
        return true;
    }

    private boolean reset(Charge charge, Moment moment) {
        Policy policy = charge.policy();
        for (int i = 0; i < policy.limits().size(); i++) {
            Kept kept = known(new Budget(policy.name(), i, charge.key()));
            if (kept != null) {
                kept.look(moment);
                kept.limit.clear(kept.state, 0, moment.on(kept.limit));
            }
        }
        return true;
    }

    /** Whether the same calls have the same results from here on. */
    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof Model model)
                || !receipts.equals(model.receipts)
                || !budgets.keySet().equals(model.budgets.keySet())) {
            return false;
        }
        return budgets.entrySet().stream().allMatch(entry -> {
            Kept kept = entry.getValue();
            Kept same = model.budgets.get(entry.getKey());
            return same != null && kept.limit.equals(same.limit) && Arrays.equals(kept.state, same.state);
        });
    }

    @Override
    public int hashCode() {
        int hash = receipts.hashCode();
        for (Map.Entry<Budget, Kept> entry : budgets.entrySet()) {
            hash += entry.getKey().hashCode() ^ Arrays.hashCode(entry.getValue().state);
        }
        return hash;
    }

    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        budgets.forEach((budget, kept) -> all.append("%s/'%s' limit %d %s: %s; "
                .formatted(budget.policy, budget.key, budget.limit, kept.limit, Arrays.toString(kept.state))));
        return all.toString();
    }
}
