package dev.ratelimit.memory.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import org.jspecify.annotations.Nullable;

/** What a call asks of one budget, with one or, in the overflow, several charges; and how the budget stands then. */
final class Asked {

    private final LimitAlgorithm limit;
    private final Moment moment;
    private final long now;
    private final @Nullable Kept former;
    private final boolean changed;
    private final boolean steppedBack;
    private long permits;
    private long[] state;

    /**
     * Looks at a budget.
     *
     * @param former what is kept of it, and may be written
     */
    Asked(@Nullable Kept former, LimitAlgorithm limit, Moment moment) {
        this.limit = limit;
        this.moment = moment;
        this.now = moment.on(limit);
        this.former = former;
        this.changed = former != null && !former.limit().equals(limit);
        this.steppedBack = former != null && former.look(moment);
        if (former == null) {
            state = new long[limit.stateSize()];
            limit.clear(state, 0, now);
        } else if (changed) {
            state = new LimitState(former.limit(), former.state(), 0).carriedTo(limit, moment.on(former.limit()), now);
        } else {
            state = former.state();
        }
    }

    void add(long more) {
        permits += more;
    }

    /** Whether it is asked under another limit than before, under which it is not full. */
    boolean changed() {
        return changed && former != null && formerFullAfter(former) > 0;
    }

    private long formerFullAfter(Kept before) {
        return before.limit().fullAfterNanos(before.state(), 0, moment.on(before.limit()));
    }

    /** Whether the clock was set back since the budget was last looked at. */
    boolean steppedBack() {
        return steppedBack;
    }

    boolean onWallTime() {
        return limit.wallClock() || (former != null && former.limit().wallClock());
    }

    boolean admits() {
        return limit.admits(state, 0, permits, now);
    }

    /** Whether it refuses, and not only because its clock was read before somebody else charged it. */
    boolean refusesInTime() {
        Kept before = former;
        if (before == null || changed || limit.wallClock() || before.at() - now <= 0) {
            return !admits();
        }
        return !admits() && !limit.admits(state, 0, permits, before.at());
    }

    /** Whether the new limit refuses, and is full before the former one. */
    boolean sooner() {
        return changed && former != null && !admits() && limit.fullAfterNanos(state, 0, now) < formerFullAfter(former);
    }

    /** Takes the permits; returns whether there are any. */
    boolean charge() {
        if (permits > 0) {
            state = limit.grow(state, 0, permits, now);
            limit.charge(state, 0, permits, now);
        }
        return permits > 0;
    }

    /** Starts the penalty, if the limit has one that has not started; returns whether it did. */
    boolean penalize() {
        boolean starts = limit instanceof Penalty penalty && penalty.starts(state, 0, now);
        if (starts && limit instanceof Penalty penalty) {
            penalty.refuse(state, 0, now);
        }
        return starts;
    }

    /** What is to be kept of it. */
    Kept kept() {
        return new Kept(limit, state, now);
    }

    LimitStatus status(Charge charge, boolean all) {
        LimitState stands = new LimitState(limit, state, 0);
        return all ? stands.admitted(charge, now) : stands.refused(charge, permits, now);
    }
}
