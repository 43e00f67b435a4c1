package dev.ratelimit.memory;

import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.Policy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slots of budgets of policies without keys: budgets that every request is charged to need no look-up. For policies
 * with a single limit whose state is one long. Thread-safe.
 */
final class SharedBudgetCache {

    /** The slot of a budget when it was found, and its header. */
    record SharedBudget(Policy policy, LimitAlgorithm limit, Table table, int slot, long header) {

        boolean isOf(Policy other) {
            return policy.name().equals(other.name())
                    && other.limits().size() == 1
                    && TableLimits.same(limit, other.algorithms().get(0));
        }

        Outcome tryCharge(long permits, StoreClock clock) {
            Outcome outcome = table.tryChargeOptimistic(slot, header, limit, permits, clock);
            if (outcome != Outcome.CONTENDED) {
                return outcome;
            }
            BackOff.after(0);
            return table.tryCharge(slot, KeyHash.OF_EMPTY, limit, permits, clock);
        }
    }

    private static final int MAX_BUDGETS = 8;

    private volatile SharedBudget[] known = {};

    /** Where this policy's budget is; {@code null} if that is not known. */
    @SuppressWarnings("ReferenceEquality") // almost always the same object, and equals is slower
    @Nullable
    SharedBudget find(Policy policy) {
        SharedBudget[] all = known;
        for (SharedBudget budget : all) {
            if (budget.policy == policy) {
                return budget;
            }
        }
        for (SharedBudget budget : all) {
            if (budget.isOf(policy)) {
                return budget;
            }
        }
        return null;
    }

    /** Remembers the slot of the policy's budget if there is room and it is not being moved to another table. */
    void remember(Policy policy, Segment segment) {
        Table table = segment.table();
        int slot = table.find(KeyHash.OF_EMPTY);
        if (slot != Table.NONE && known.length < MAX_BUDGETS) {
            LimitAlgorithm limit = policy.algorithms().get(0);
            add(new SharedBudget(policy, limit, table, slot, table.unlockedHeader(slot, KeyHash.OF_EMPTY, limit)));
        }
    }

    private synchronized void add(SharedBudget budget) {
        List<SharedBudget> all = without(budget.policy);
        all.add(budget);
        known = all.toArray(SharedBudget[]::new);
    }

    /** Forgets the slot of this budget. */
    synchronized void forget(Policy policy) {
        known = without(policy).toArray(SharedBudget[]::new);
    }

    /** Forgets everything: an old table leads to all later ones, which would never be collected. */
    synchronized void clear() {
        known = new SharedBudget[0];
    }

    private List<SharedBudget> without(Policy policy) {
        List<SharedBudget> others = new ArrayList<>(List.of(known));
        others.removeIf(budget -> budget.policy.name().equals(policy.name()));
        return others;
    }
}
