package dev.ratelimit.memory.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The simplest store that decides as a store must: a map of states, to which calls are applied one after another, each at
 * one moment. Which key is evicted, and whether a key finds no room, is decided by the {@link Judge}.
 */
final class Model {

    /** The keys of one limit of a policy. */
    record Keys(String policy, int rank) {

        /** The limit of this rank in a list of limits. */
        LimitAlgorithm of(Policy list) {
            int number = 0;
            while (list.rank(number) != rank) {
                number++;
            }
            return list.algorithms().get(number);
        }
    }

    /**
     * Identifies a budget.
     *
     * @param overflow the hash code of the limit for whose keys without room it is; {@code null} if it is a key's
     */
    record Budget(Keys keys, String key, @Nullable Integer overflow) {}

    /** What a call asks of one limit, by its number among all. */
    record Claim(int call, int number) {}

    /** What a call that forgets all keys has forgotten. */
    private record Cleared(int call, Budget budget) {}

    /** When a decision was made, for its refund. */
    private record Receipt(Moment moment, boolean epochRead) {

        long age(LimitAlgorithm limit, Moment now) {
            return limit.wallClock() && epochRead
                    ? now.epochNanos() - moment.epochNanos()
                    : now.nanos() - moment.nanos();
        }
    }

    /** No call is decided by a time before that of a key that another one has added. */
    private static final long FULL_BEFORE_NANOS = Duration.ofHours(1).toNanos();

    private final Map<Budget, Kept> budgets;
    private final Map<Integer, Receipt> receipts;
    private final Set<Claim> overflown;
    private final Set<Cleared> cleared;

    /** How many keys of each policy were evicted although they were not full. */
    private final Map<String, Long> evicted;

    private final boolean mayStepBack;
    private boolean steppedBack;
    private String expected = "another result";

    /**
     * Creates an empty store.
     *
     * @param mayStepBack whether the wall clock is set back; otherwise no call is decided by a time before that of a state
     */
    Model(boolean mayStepBack) {
        this(Map.of(), Map.of(), Set.of(), Set.of(), Map.of(), mayStepBack);
    }

    private Model(
            Map<Budget, Kept> budgets,
            Map<Integer, Receipt> receipts,
            Set<Claim> overflown,
            Set<Cleared> cleared,
            Map<String, Long> evicted,
            boolean mayStepBack) {
        this.mayStepBack = mayStepBack;
        this.budgets = new HashMap<>(budgets);
        this.receipts = new HashMap<>(receipts);
        this.overflown = new HashSet<>(overflown);
        this.cleared = new HashSet<>(cleared);
        this.evicted = new HashMap<>(evicted);
    }

    private Model copy() {
        return new Model(budgets, receipts, overflown, cleared, evicted, mayStepBack);
    }

    Map<Budget, Kept> budgets() {
        return budgets;
    }

    long evicted(String policy) {
        return evicted.getOrDefault(policy, 0L);
    }

    /**
     * The model after a call that forgets all keys has forgotten this one, at some moment of its own; {@code null} if it
     * has before.
     */
    @Nullable
    Model cleared(Call clear, Budget budget) {
        Model next = forgetting(budget);
        return next.cleared.add(new Cleared(clear.step.id(), budget)) ? next : null;
    }

    private boolean clear(Call clear) {
        budgets.keySet().removeIf(budget -> cleared.add(new Cleared(clear.step.id(), budget)));
        return true;
    }

    /** The model with this key, which is full. */
    Model adding(Budget budget, LimitAlgorithm limit, Moment moment) {
        Model next = copy();
        long[] state = new long[limit.stateSize()];
        limit.clear(state, 0, moment.on(limit) - FULL_BEFORE_NANOS);
        next.budgets.put(budget, new Kept(limit, state, moment.on(limit) - FULL_BEFORE_NANOS));
        return next;
    }

    /** The model without this full key. */
    Model forgetting(Budget budget) {
        Model next = copy();
        next.budgets.remove(budget);
        return next;
    }

    /** The model after this key was evicted although it was not full. */
    Model without(Budget budget) {
        Model next = forgetting(budget);
        next.evicted.merge(budget.keys.policy, 1L, Long::sum);
        return next;
    }

    /** The model after this key found no room. */
    Model withoutRoom(Claim claim) {
        Model next = copy();
        next.overflown.add(claim);
        return next;
    }

    /**
     * The model after the call looked at its budgets from this one on and was then not decided, at this moment;
     * {@code null} if no clock was set back before.
     */
    @Nullable
    Model afterLook(Call call, Moment moment, int from) {
        Model next = copy();
        List<Budget> asked = budgets(call);
        for (Budget budget : asked.subList(from, asked.size())) {
            Kept kept = next.known(budget);
            next.steppedBack |= kept != null && kept.look(moment);
        }
        return mayStepBack && next.steppedBack ? next : null;
    }

    /** The budgets that a call is about, by the numbers of their claims. */
    List<Budget> budgets(Call call) {
        List<Budget> all = new ArrayList<>();
        Call paid = call.refunded == null ? call : call.refunded;
        for (Charge charge : paid.budgets()) {
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                Keys keys = new Keys(charge.policy().name(), charge.policy().rank(i));
                boolean over = overflown.contains(new Claim(paid.step.id(), all.size()));
                all.add(new Budget(
                        keys,
                        over ? "" : charge.key(),
                        over ? charge.policy().algorithms().get(i).hashCode() : null));
            }
        }
        return all;
    }

    /** What the result of this call would be. */
    String expected(Call call, Moment moment) {
        Model next = copy();
        next.decide(call, moment);
        return next.expected;
    }

    /** The model after a call at this moment; {@code null} if the call would have another result. */
    @Nullable
    Model after(Call call, Moment moment) {
        Model next = copy();
        boolean same = switch (call.step.kind()) {
            case TRY_ONE, TRY, DECIDE, PEEK -> next.decide(call, moment);
            case REFUND, REFUND_PART -> next.refund(call, moment);
            case RESET -> next.reset(call, moment);
            case CLEAR -> next.clear(call);
            default -> true;
        };
        return same && (mayStepBack || !next.steppedBack) ? next : null;
    }

    /**
     * The same for a yes or no, which may ask the limits from the last to the first that refuses. The others then do not
     * notice that the clock was set back.
     */
    @Nullable
    Model afterFirstRefusal(Call call, Moment moment) {
        boolean stops = mayStepBack && call.step.kind().charges() && call.decision == null && !call.admitted;
        Model next = stops ? after(call, moment) : null;
        if (next != null) {
            Set<Budget> asked = askedUntilRefusal(call, moment);
            for (Budget budget : budgets(call)) {
                Kept kept = budgets.get(budget);
                if (kept != null && !asked.contains(budget)) {
                    next.budgets.put(budget, kept);
                }
            }
        }
        return next;
    }

    private Set<Budget> askedUntilRefusal(Call call, Moment moment) {
        Set<Budget> asked = new HashSet<>();
        boolean refused = false;
        for (int i = call.charges.size() - 1; i >= 0; i--) {
            Charge charge = call.charges.get(i);
            for (int limit = charge.policy().limits().size() - 1; !refused && limit >= 0; limit--) {
                Budget budget = new Budget(
                        new Keys(charge.policy().name(), charge.policy().rank(limit)), charge.key(), null);
                Asked one = copy().ask(budget, charge.policy().algorithms().get(limit), moment);
                one.add(charge.permits());
                refused = !one.admits();
                asked.add(budget);
            }
        }
        return asked;
    }

    /** The state of a budget, which may be written. */
    private @Nullable Kept known(Budget budget) {
        return budgets.computeIfPresent(budget, (same, kept) -> kept.copy());
    }

    private Asked ask(Budget budget, LimitAlgorithm limit, Moment moment) {
        Asked asked = new Asked(known(budget), limit, moment);
        steppedBack |= asked.steppedBack();
        return asked;
    }

    private void write(Budget budget, Asked asked) {
        budgets.put(budget, asked.kept());
    }

    private boolean decide(Call call, Moment moment) {
        List<Budget> asks = budgets(call);
        List<Charge> charges = call.chargesByLimit();
        Map<Budget, Asked> all = new HashMap<>();
        for (int i = 0; i < asks.size(); i++) {
            LimitAlgorithm limit = asks.get(i).keys.of(charges.get(i).policy());
            all.computeIfAbsent(asks.get(i), budget -> ask(budget, limit, moment))
                    .add(charges.get(i).permits());
        }
        boolean onlyByChanged = true;
        boolean admitted = true;
        for (Asked asked : all.values()) {
            boolean admits = asked.admits();
            admitted &= admits;
            onlyByChanged &= admits || asked.changed();
        }
        if (admitted && call.step.kind() != Step.Kind.PEEK) {
            receipts.put(
                    call.step.id(), new Receipt(moment, all.values().stream().anyMatch(Asked::onWallTime)));
            all.forEach((budget, asked) -> {
                if (asked.charge()) {
                    write(budget, asked);
                }
            });
        }
        boolean inTime = admitted || all.values().stream().anyMatch(Asked::refusesInTime);
        if (!admitted && call.step.kind() != Step.Kind.PEEK) {
            List<Budget> sooner =
                    asks.stream().filter(budget -> asked(all, budget).sooner()).toList();
            penalize(asks, charges, all);
            if (onlyByChanged) {
                sooner.forEach(budget -> write(budget, asked(all, budget)));
            }
        }
        Decision decision = call.decision;
        if (call.thrown != null) {
            return true;
        }
        if (!inTime) {
            expected = "no refusal because of a time before";
            return false;
        }
        List<LimitStatus> limits = new ArrayList<>();
        for (int i = 0; decision != null && i < asks.size(); i++) {
            limits.add(asked(all, asks.get(i)).status(charges.get(i), admitted));
        }
        expected = (admitted ? "admitted " : "refused ") + limits;
        return admitted == call.admitted && (decision == null || same(limits, decision.limits()));
    }

    private static Asked asked(Map<Budget, Asked> all, Budget budget) {
        return Objects.requireNonNull(all.get(budget));
    }

    /** Starts the penalties of the policies that refuse, unless keys share the budget. */
    private void penalize(List<Budget> asks, List<Charge> charges, Map<Budget, Asked> all) {
        Set<Charge> refused = new HashSet<>();
        for (int i = 0; i < asks.size(); i++) {
            if (!asked(all, asks.get(i)).admits()) {
                refused.add(charges.get(i));
            }
        }
        for (int i = 0; i < asks.size(); i++) {
            Budget budget = asks.get(i);
            boolean its = refused.contains(charges.get(i)) && charges.get(i).permits() > 0;
            if (its && budget.overflow == null && asked(all, budget).penalize()) {
                write(budget, asked(all, budget));
            }
        }
    }

    private static boolean same(List<LimitStatus> limits, List<LimitStatus> others) {
        boolean same = limits.size() == others.size();
        for (int i = 0; same && i < limits.size(); i++) {
            LimitStatus one = limits.get(i);
            LimitStatus other = others.get(i);
            same = one.remaining() == other.remaining()
                    && one.retryAfterNanos() == other.retryAfterNanos()
                    && one.nextAvailableNanos() == other.nextAvailableNanos()
                    && one.fullAfterNanos() == other.fullAfterNanos();
        }
        return same;
    }

    private boolean refund(Call call, Moment moment) {
        Receipt receipt = call.refunded == null ? null : receipts.get(call.refunded.step.id());
        List<Budget> paid = budgets(call);
        for (int i = 0; receipt != null && i < call.chargesByLimit().size(); i++) {
            Kept kept = known(paid.get(i));
            if (kept != null) {
                steppedBack |= kept.look(moment);
                Charge charge = call.chargesByLimit().get(i);
                LimitAlgorithm limit = paid.get(i).keys.of(charge.policy());
                new LimitState(kept.limit(), kept.state(), 0)
                        .refund(limit, charge.permits(), receipt.age(kept.limit(), moment), moment.on(kept.limit()));
            }
        }
        return true;
    }

    private boolean reset(Call call, Moment moment) {
        for (Budget budget : budgets(call)) {
            Kept kept = known(budget);
            if (kept != null) {
                steppedBack |= kept.look(moment);
                kept.limit().clear(kept.state(), 0, moment.on(kept.limit()));
            }
        }
        return true;
    }

    /** Whether the same calls have the same results from here on. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Model model
                && receipts.equals(model.receipts)
                && overflown.equals(model.overflown)
                && cleared.equals(model.cleared)
                && evicted.equals(model.evicted)
                && budgets.keySet().equals(model.budgets.keySet())
                && budgets.entrySet().stream()
                        .allMatch(entry -> entry.getValue().same(model.budgets.get(entry.getKey())));
    }

    @Override
    public int hashCode() {
        int hash = receipts.hashCode() + overflown.hashCode() + cleared.hashCode();
        for (Map.Entry<Budget, Kept> entry : budgets.entrySet()) {
            hash += entry.getKey().hashCode() ^ Arrays.hashCode(entry.getValue().state());
        }
        return hash;
    }

    @Override
    public String toString() {
        StringBuilder all = new StringBuilder();
        budgets.forEach((budget, kept) -> all.append("\n    %s/'%s' rank %d%s: %s %s"
                .formatted(
                        budget.keys.policy,
                        budget.key,
                        budget.keys.rank,
                        budget.overflow == null ? "" : " overflow",
                        kept.limit(),
                        Arrays.toString(kept.state()))));
        return all.toString();
    }
}
