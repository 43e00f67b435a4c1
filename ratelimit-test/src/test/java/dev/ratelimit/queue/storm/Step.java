package dev.ratelimit.queue.storm;

import java.util.List;

/**
 * Something that happens once.
 *
 * @param number how long in nanoseconds, or which one
 */
record Step(int id, Kind kind, List<Want> wants, long number) {

    /** What happens. */
    enum Kind {
        /** A caller asks the queue. */
        ACQUIRE,
        /** A caller does not want to wait any more. */
        CANCEL,
        /** Somebody returns permits, and wakes those who wait for them. */
        RELEASE,
        /** Somebody takes permits past the queue, such as another instance. */
        TAKE,
        /** An operator resets a budget, and wakes those who wait for it. */
        RESET,
        /** Somebody wakes all who wait for a policy. */
        WAKE,
        /** Time passes, and alarms ring at their time. */
        ADVANCE,
        /** Time passes while no alarm rings, as in a pause of the process. */
        PAUSE,
        /** What the executor was told runs, and alarms ring whose time has come. */
        RUN,
        /** The queue is closed. */
        CLOSE;

        boolean takesTime() {
            return this == ADVANCE || this == PAUSE;
        }

        /** Each as often as it happens. */
        static final List<Kind> OFTEN = List.of(
                ACQUIRE, ACQUIRE, ACQUIRE, ACQUIRE, ACQUIRE, ACQUIRE, ACQUIRE, ACQUIRE, CANCEL, CANCEL, RELEASE,
                RELEASE, RELEASE, TAKE, TAKE, RESET, WAKE, ADVANCE, ADVANCE, ADVANCE, ADVANCE, PAUSE, RUN, RUN, CLOSE);
    }

    /** Permits of a budget. */
    record Want(int policy, String key, int permits) {}
}
