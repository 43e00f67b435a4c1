package dev.ratelimit.queue.storm;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitAlgorithm;
import dev.ratelimit.LimitStatus;

/**
 * An answer of the store to a caller.
 *
 * @param at when the queue read the clock after it
 */
record Heard(Decision decision, long at) {

    /** Whether a refusal is an answer of the store at its age. */
    boolean isWhatIsTold(Decision told, Caller caller) {
        if (told.equals(decision)) {
            return true;
        }
        long least = caller.answeredFrom - at - Model.SLACK;
        long most = caller.answeredUntil - at + Model.SLACK;
        if (told.limits().size() != decision.limits().size()) {
            return false;
        }
        Charge waitsFor = caller.disturbed || caller.vague ? null : caller.at;
        for (int i = 0; i < told.limits().size(); i++) {
            LimitStatus was = decision.limits().get(i);
            boolean alone = waitsFor != null && !was.charge().sameBudget(waitsFor);
            if (!isAged(was, told.limits().get(i), least, most, alone)) {
                return false;
            }
        }
        return true;
    }

    /** Nobody knows when permits that are held come back, however old the answer is. */
    private static boolean isAged(LimitStatus was, LimitStatus is, long least, long most, boolean alone) {
        boolean held = was.limit().concurrency();
        return was.charge().equals(is.charge())
                && was.limit().equals(is.limit())
                && was.remaining() == is.remaining()
                && isAged(was.fullAfterNanos(), is.fullAfterNanos(), least, most)
                && isAged(was.nextAvailableNanos(), is.nextAvailableNanos(), held ? 0 : least, held ? 0 : most)
                && isAgedWait(was.retryAfterNanos(), is.retryAfterNanos(), held ? 0 : least, held ? 0 : most, alone);
    }

    /** Others who wait for the same budget make the wait longer. */
    private static boolean isAgedWait(long was, long is, long least, long most, boolean alone) {
        if (was == LimitAlgorithm.NEVER) {
            return is == LimitAlgorithm.NEVER;
        }
        return is >= was - most && (!alone || is <= Math.max(1, was - least));
    }

    private static boolean isAged(long was, long is, long least, long most) {
        return is >= Math.min(was, Math.max(0, was - most)) && is <= Math.max(was == 0 ? 0 : 1, was - least);
    }
}
