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

    /** Where a budget was when it was found, and under which mark. */
    record Shortcut(Policy policy, Limit limit, Table table, int slot, long mark) {

        Table.Outcome tryCharge(long permits, StoreClock clock) {
            Table.Outcome outcome = table.tryChargeMarked(slot, mark, limit, permits, clock);
            if (outcome != Table.Outcome.DISTURBED) {
                return outcome;
            }
            Table.backOff(0);
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

    /** Remembers where the policy's budget is, if there is room, and it is not on its way to another table. */
    void remember(Policy policy, Segment segment) {
        Table table = segment.table();
        int slot = table.find(KeyHash.OF_EMPTY);
        if (slot != Table.NONE && (known.length < MOST || without(policy).size() < MOST)) {
            Limit limit = policy.limits().get(0);
            add(new Shortcut(policy, limit, table, slot, table.calmMark(slot, KeyHash.OF_EMPTY, limit)));
        }
    }

    private synchronized void add(Shortcut shortcut) {
        List<Shortcut> all = without(shortcut.policy);
        all.add(shortcut);
        known = all.toArray(Shortcut[]::new);
    }

    /** Forgets where the budget was. */
    synchronized void forget(Policy policy) {
        known = without(policy).toArray(Shortcut[]::new);
    }

    /** Forgets all: a table that was left leads to all that came after it, which would never be collected. */
    synchronized void clear() {
        known = new Shortcut[0];
    }

    private List<Shortcut> without(Policy policy) {
        List<Shortcut> others = new ArrayList<>(List.of(known));
        others.removeIf(shortcut -> shortcut.policy.name().equals(policy.name()));
        return others;
    }
}
