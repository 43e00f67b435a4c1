package dev.ratelimit.queue;

import dev.ratelimit.Charge;
import dev.ratelimit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The outlook of a caller who waits and whom the store has refused: all that the lines need to know of the refusal.
 *
 * @param now when it came
 * @param wakes how often permits were refunded before the store was asked
 * @param at the charge whose permits take longest; if the caller must not wait, the one it has waited for
 * @param here what it says about the line in which the caller waits
 * @param there what it says about the budget whose permits take longest; {@code null} if the caller must not wait
 */
record Outlook(
        Decision refusal,
        long now,
        long wakes,
        Charge at,
        @Nullable Due here,
        @Nullable Due there) {

    /**
     * Reads a refusal.
     *
     * @param at the charge whose permits take longest; {@code null} if the caller must not wait
     * @param waitsFor the charge whose permits the caller has waited for
     */
    static Outlook of(Decision refusal, long now, long wakes, @Nullable Charge at, Charge waitsFor) {
        Due here = Due.after(refusal, waitsFor, now);
        return at == null
                ? new Outlook(refusal, now, wakes, waitsFor, here, null)
                : new Outlook(refusal, now, wakes, at, here, Due.after(refusal, at, now));
    }

    /**
     * Whether the caller may go on waiting until this deadline.
     *
     * @param outdated whether permits were refunded meanwhile, so that the store is asked again at once
     */
    boolean allows(long deadline, boolean outdated) {
        return there != null && (outdated || !there.isTooLateFor(deadline));
    }
}
