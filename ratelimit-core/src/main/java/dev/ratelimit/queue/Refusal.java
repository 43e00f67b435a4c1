package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;
import java.util.ArrayList;
import java.util.List;

/** What those are told who do not get their permits: the last answer of the store to their question, at its age. */
final class Refusal {

    private Refusal() {}

    /**
     * A refusal of what a caller has asked for.
     *
     * @param last the last answer of the store
     * @param ageNanos how old it is: no wait is as long as it was then
     * @param at the budget whose permits the caller has to wait for
     * @param waitNanos how long at least, as others wait for them, too
     */
    static Decision of(Decision last, long ageNanos, Charge at, long waitNanos) {
        List<LimitStatus> limits = new ArrayList<>(last.limits().size() + 1);
        int refuses = -1;
        for (LimitStatus status : last.limits()) {
            LimitStatus aged = aged(status, ageNanos);
            if (status.charge().sameBudget(at)
                    && (refuses < 0
                            || aged.retryAfterNanos() > limits.get(refuses).retryAfterNanos())) {
                refuses = limits.size();
            }
            limits.add(aged);
        }
        long wait = Math.max(1, waitNanos);
        if (refuses < 0) {
            // a store does not have to tell the status of each limit
            limits.add(new LimitStatus(at, at.policy().limits().get(0), 0, wait, wait, wait));
        } else {
            limits.set(refuses, atLeast(wait, limits.get(refuses)));
        }
        return new Decision(false, last.charges(), List.copyOf(limits), null);
    }

    private static LimitStatus aged(LimitStatus status, long ageNanos) {
        // nobody knows when permits of a concurrency limit come back, neither then nor now
        long age = status.limit().concurrency() ? 0 : ageNanos;
        boolean never = status.retryAfterNanos() == LimitAlgorithm.NEVER;
        return new LimitStatus(
                status.charge(),
                status.limit(),
                status.remaining(),
                never ? LimitAlgorithm.NEVER : Math.max(0, status.retryAfterNanos() - age),
                rest(status.nextAvailableNanos(), age),
                rest(status.fullAfterNanos(), ageNanos));
    }

    /** 0 says that there are all permits, which the age alone does not. */
    private static long rest(long nanos, long ageNanos) {
        return nanos == 0 ? 0 : Math.max(1, nanos - ageNanos);
    }

    private static LimitStatus atLeast(long waitNanos, LimitStatus status) {
        return new LimitStatus(
                status.charge(),
                status.limit(),
                status.remaining(),
                Math.max(waitNanos, status.retryAfterNanos()),
                status.nextAvailableNanos(),
                status.fullAfterNanos());
    }
}
