package dev.ratelimit.memory.storm;

import dev.ratelimit.Policy;
import dev.ratelimit.memory.storm.History.Setup;
import dev.ratelimit.memory.storm.Model.Budget;
import dev.ratelimit.memory.storm.Model.Claim;
import dev.ratelimit.memory.storm.Model.Keys;
import dev.ratelimit.memory.storm.StormClock.Reading;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What may happen next without being the result of a call: a step back of the clock is noticed, a key is added or forgotten,
 * another one is evicted to make room, or a key finds no room, so that its call is charged to the overflow.
 */
final class Unseen {

    private final Setup setup;
    private final List<Call> calls;
    private final List<Call> open;
    private final Model model;

    /**
     * Looks for what may happen next.
     *
     * @param calls all calls
     * @param open those under way
     */
    Unseen(Setup setup, List<Call> calls, List<Call> open, Model model) {
        this.setup = setup;
        this.calls = calls;
        this.open = open;
        this.model = model;
    }

    /** The model after each of these events. */
    List<Model> all() {
        List<Model> all = new ArrayList<>();
        for (Call call : open) {
            looks(call, all);
            if (call.step.kind() == Step.Kind.CLEAR) {
                cleared(call, all);
            }
            if (call.step.kind() == Step.Kind.SWEEP || call.step.kind().charges()) {
                forgotten(call, all);
            }
            if (call.step.kind().charges() && !call.admitted) {
                added(call, all);
            }
            if (call.step.kind().charges()) {
                List<Budget> asked = model.budgets(call);
                for (int i = 0; i < asked.size(); i++) {
                    if (call.chargesByLimit().get(i).permits() > 0
                            && asked.get(i).overflow() == null
                            && absent(call, asked.get(i))
                            && crowded(call, asked.get(i))) {
                        evictions(call, asked.get(i).keys(), all);
                        if (allExhausted(call, asked.get(i).keys())) {
                            all.add(model.withoutRoom(new Claim(call.step.id(), i)));
                        }
                    }
                }
            }
        }
        return all;
    }

    /** Each key that is there, or that a call under way may be about to add, is forgotten by itself. */
    private void cleared(Call clear, List<Model> all) {
        Set<Budget> known = new HashSet<>(model.budgets().keySet());
        open.forEach(call -> known.addAll(model.budgets(call)));
        for (Budget budget : known) {
            Model next = model.cleared(clear, budget);
            if (next != null) {
                all.add(next);
            }
        }
    }

    /**
     * A call that is refused after all may have added its keys, which are full. That can be noticed if their policy has
     * another plan, which would take them over.
     */
    private void added(Call call, List<Model> all) {
        List<Budget> asked = model.budgets(call);
        for (int i = 0; i < asked.size(); i++) {
            Budget budget = asked.get(i);
            if (setup.plans(budget.keys().policy()) > 1
                    && budget.overflow() == null
                    && !model.budgets().containsKey(budget)) {
                Policy policy = call.chargesByLimit().get(i).policy();
                all.add(model.adding(budget, budget.keys().of(policy), first(call)));
            }
        }
    }

    /**
     * A state remembers that the clock was set back at the first look, even if the call starts again or throws. It may
     * have looked at its last limits only.
     */
    private void looks(Call call, List<Model> all) {
        int limits = model.budgets(call).size();
        for (Reading reading : call.readings) {
            for (int from = 0; reading.ofWall() && from < limits; from++) {
                Model next = model.afterLook(call, new Moment(reading.nanos(), reading.epochNanos()), from);
                if (next != null) {
                    all.add(next);
                }
            }
        }
    }

    /**
     * A full key may be forgotten. That can be noticed if its policy has another plan, which would take it over, and if it
     * is reset by a call that has read a later time than the next one.
     */
    private void forgotten(Call call, List<Model> all) {
        model.budgets().forEach((budget, kept) -> {
            boolean noticed = call.step.kind() == Step.Kind.SWEEP
                    || setup.tight()
                    || setup.plans(budget.keys().policy()) > 1;
            if (noticed && kept.full(last(call))) {
                all.add(model.forgetting(budget));
            }
        });
    }

    /** Whether a key may not be there: it is unknown, or it is full, so that the store may have forgotten it. */
    private boolean absent(Call call, Budget budget) {
        Kept kept = model.budgets().get(budget);
        return kept == null || kept.full(last(call));
    }

    /** Whether there may be as many keys as possible: those that are not full, and those that are just added. */
    private boolean crowded(Call call, Budget wanted) {
        Set<Budget> present = new HashSet<>();
        for (Budget budget : model.budgets().keySet()) {
            boolean stays = !fullAt(budget, first(call));
            if (budget.keys().equals(wanted.keys()) && budget.overflow() == null && stays) {
                present.add(budget);
            }
        }
        for (Budget claimed : claimed(call)) {
            if (claimed.keys().equals(wanted.keys()) && claimed.overflow() == null) {
                present.add(claimed);
            }
        }
        // a call may have been refused after its key was added, and keys of the same name stay
        call.charges.forEach(charge -> present.add(new Budget(wanted.keys(), charge.key(), null)));
        present.remove(wanted);
        return present.size() >= setup.maxKeys();
    }

    private boolean fullAt(Budget budget, Moment moment) {
        Kept kept = model.budgets().get(budget);
        return kept == null || kept.full(moment);
    }

    /** What is asked by the call and by those that overlap with it. */
    private Set<Budget> claimed(Call call) {
        Set<Budget> claimed = new HashSet<>();
        for (Call other : calls) {
            if (other.ended >= call.began && other.began <= call.ended) {
                claimed.addAll(model.budgets(other));
            }
        }
        return claimed;
    }

    /** Any key that is not exhausted may be evicted, unless another one is closer to full, and was before. */
    private void evictions(Call call, Keys keys, List<Model> all) {
        model.budgets().forEach((budget, kept) -> {
            boolean candidate = budget.keys().equals(keys)
                    && budget.overflow() == null
                    && !keeps(call, budget)
                    && kept.remaining(last(call)) > 0
                    && !kept.full(first(call));
            if (candidate
                    && (claimed(call).contains(budget)
                            || others(call, keys).stream()
                                    .noneMatch(other -> fuller(other, first(call), kept, last(call))))) {
                all.add(model.without(budget));
            }
        });
    }

    /** A call evicts none of its own keys, not even if it charges them under another policy, unless they have no room. */
    private boolean keeps(Call call, Budget budget) {
        return model.budgets(call).stream()
                .anyMatch(own -> own.overflow() == null && own.key().equals(budget.key()));
    }

    /** The same, or it found out about the room just now. */
    private static boolean mayKeep(Call call, Budget budget) {
        return call.charges.stream().anyMatch(charge -> charge.key().equals(budget.key()));
    }

    /** The other keys that the store can have looked at: not those that calls under way may have locked. */
    private Collection<Kept> others(Call call, Keys keys) {
        Map<Budget, Kept> others = new HashMap<>(model.budgets());
        others.keySet().removeAll(claimed(call));
        others.keySet()
                .removeIf(budget -> !budget.keys().equals(keys) || budget.overflow() != null || mayKeep(call, budget));
        others.values().removeIf(kept -> kept.full(last(call)));
        return others.values();
    }

    private static boolean fuller(Kept one, Moment early, Kept other, Moment late) {
        return one.remaining(early) * other.limit().capacity()
                > other.remaining(late) * one.limit().capacity();
    }

    /** Unless another call has locked or charged the key that was closest to full. */
    private boolean allExhausted(Call call, Keys keys) {
        boolean contested = claimed(call).stream()
                .anyMatch(budget -> budget.keys().equals(keys)
                        && model.budgets().containsKey(budget)
                        && !keeps(call, budget)
                        && !fullAt(budget, first(call)));
        return contested || others(call, keys).stream().allMatch(kept -> kept.remaining(first(call)) == 0);
    }

    private static Moment first(Call call) {
        return moment(call, 0);
    }

    private static Moment last(Call call) {
        return moment(call, call.readings.size() - 1);
    }

    private static Moment moment(Call call, int number) {
        Reading reading = call.readings.get(number);
        return new Moment(reading.nanos(), reading.epochNanos());
    }
}
