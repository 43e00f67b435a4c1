package dev.ratelimit.jdbc;

import dev.ratelimit.Charge;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitState;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;

/** What a charge asks of one limit. */
final class Question {

    private final Charge charge;
    private final Row row;
    private final LimitAlgorithm limit;
    private final int rank;
    private final long now;
    private final boolean admitted;

    /** As the limit sees it: the row's, a new one, or that of another limit, converted. */
    private long[] state;

    /** Whether another limit wrote it, under which the key is not full. */
    private boolean changed;

    /** Whether it is converted, and full sooner. */
    private boolean sooner;

    /** Asks the limit with this number. */
    Question(Charge charge, int number, Row row) {
        this.charge = charge;
        this.row = row;
        this.limit = charge.policy().algorithms().get(number);
        this.rank = charge.policy().rank(number);
        this.now = row.now(limit);
        Row.Kept kept = row.kept(rank);
        if (kept == null) {
            this.state = new long[limit.stateSize()];
            limit.clear(state, 0, now);
        } else if (kept.limit().equals(limit)) {
            this.state = kept.state();
        } else {
            long then = row.now(kept.limit());
            this.state = new LimitState(kept.limit(), kept.state(), 0).carriedTo(limit, then, now);
            long fullAfter = kept.limit().fullAfterNanos(kept.state(), 0, then);
            this.changed = fullAfter > 0;
            this.sooner = limit.fullAfterNanos(state, 0, now) < fullAfter;
        }
        this.admitted = limit.admits(state, 0, charge.permits(), now);
    }

    boolean admitted() {
        return admitted;
    }

    /** Whether it refuses although the limit has not changed for the key. */
    boolean refusesUnchanged() {
        return !admitted && !changed;
    }

    void charge() {
        state = limit.grow(state, 0, charge.permits(), now);
        limit.charge(state, 0, charge.permits(), now);
        row.keep(rank, limit, state);
    }

    /** After a refusal by only limits that have changed: keeps the converted state if the key is full sooner. */
    void adopt() {
        if (!admitted && sooner) {
            row.keep(rank, limit, state);
        }
    }

    /** Starts the penalty of a policy that has refused the key, if this limit carries it. */
    void penalize() {
        if (limit instanceof Penalty penalty && charge.permits() > 0 && penalty.starts(state, 0, now)) {
            penalty.refuse(state, 0, now);
            row.keep(rank, limit, state);
        }
    }

    /** The status after a decision, in whole microseconds, as the clock has no other times. */
    LimitStatus status(boolean all) {
        LimitState view = new LimitState(limit, state, 0);
        LimitStatus exact = all ? view.admitted(charge, now) : view.refused(charge, charge.permits(), now);
        return new LimitStatus(
                charge,
                limit,
                exact.remaining(),
                wholeMicros(exact.retryAfterNanos()),
                wholeMicros(exact.nextAvailableNanos()),
                wholeMicros(exact.fullAfterNanos()));
    }

    private static long wholeMicros(long nanos) {
        return nanos > Long.MAX_VALUE - 1000 ? nanos : (nanos + 999) / 1000 * 1000;
    }
}
