package dev.ratelimit.memory;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the budgets of policies without keys lie: those that every request is charged to need not be looked for. Of
 * policies with a single limit, whose state is one long. Thread-safe.
 */
final class Shortcuts {

    /** Where a budget was when it was found. */
    record Shortcut(Policy policy, Limit limit, Table table, int slot) {

        Table.Outcome tryCharge(long permits, StoreClock clock) {
            return table.tryChargeWord(slot, KeyHash.OF_EMPTY, limit, permits, clock);
        }
    }

    private static final int MOST = 8;

    private volatile Shortcut[] known = {};

    /** The shortcut to the budget of this very object; {@code null} when there is none. */
    @SuppressWarnings("ReferenceEquality") // equal policies find the long way
    @Nullable
    Shortcut find(Policy policy) {
        for (Shortcut shortcut : known) {
            if (shortcut.policy == policy) {
                return shortcut;
            }
        }
        return null;
    }

    /** Remembers where the budget is, if it is where it will probably stay. */
    synchronized void remember(Policy policy, Segment segment) {
        Limit limit = policy.limits().get(0);
        Table table = segment.table();
        int slot = table.find(KeyHash.OF_EMPTY);
        if (policy.limits().size() == 1 && limit.stateSize() == 1 && slot != Table.NONE) {
            List<Shortcut> others = without(policy);
            if (others.size() < MOST) {
                others.add(new Shortcut(policy, limit, table, slot));
                known = others.toArray(Shortcut[]::new);
            }
        }
    }

    /** Forgets where the budget was. */
    synchronized void forget(Policy policy) {
        known = without(policy).toArray(Shortcut[]::new);
    }

    private List<Shortcut> without(Policy policy) {
        List<Shortcut> others = new ArrayList<>(List.of(known));
        others.removeIf(shortcut -> shortcut.policy.name().equals(policy.name()));
        return others;
    }
}
