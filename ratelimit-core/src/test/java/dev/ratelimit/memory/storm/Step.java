package dev.ratelimit.memory.storm;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call of one thread in a history.
 *
 * @param id its number, by which a refund refers to it
 * @param thread the number of the thread; {@link #FIRST} for calls before the threads start
 * @param wants what is charged
 * @param number the call to refund, or the nanoseconds by which a clock is set
 * @param fault what goes wrong during the call, if anything
 */
record Step(
        int id,
        int thread,
        Kind kind,
        List<Want> wants,
        long number,
        @Nullable Fault fault) {

    static final int FIRST = -1;

    /** The thread of calls after the others have ended. */
    static final int LAST = -2;

    /** What is called. */
    enum Kind {
        /** A yes or no to one charge. */
        TRY_ONE,
        TRY,
        DECIDE,
        PEEK,
        /** Refunds an earlier decision. */
        REFUND,
        /** Refunds one permit of its first charge. */
        REFUND_PART,
        RESET,
        /** Forgets all keys. */
        CLEAR,
        SWEEP,
        ADVANCE,
        SET_BACK;

        /** Whether it charges all or nothing. */
        boolean charges() {
            return this == TRY_ONE || this == TRY || this == DECIDE;
        }
    }

    /**
     * What is charged.
     *
     * @param plan the number of the policy among those of the same name
     */
    record Want(int policy, int plan, String key, int permits) {

        @Override
        public String toString() {
            return "%d of p%d%s/'%s'".formatted(permits, policy, plan == 0 ? "" : " plan " + plan, key);
        }
    }

    /** What is thrown. */
    enum Thrown implements Supplier<Throwable> {
        EXCEPTION,
        OUT_OF_MEMORY,
        STACK_OVERFLOW;

        @Override
        public Throwable get() {
            return switch (this) {
                case EXCEPTION -> new IllegalStateException("storm");
                case OUT_OF_MEMORY -> new OutOfMemoryError("storm");
                case STACK_OVERFLOW -> new StackOverflowError("storm");
            };
        }
    }

    /** Where something is thrown. */
    enum Place {
        /** In a limit or a clock. */
        FOREIGN,
        /** In the store, where it allocates. */
        ALLOCATION,
        /** In the store, at a call deeper than any before. */
        CALL
    }

    /**
     * An error during a call.
     *
     * @param at the number of the place among those of its kind
     */
    record Fault(int at, Place place, Thrown error) {

        @Override
        public String toString() {
            return error + " at " + place + " " + at;
        }
    }

    Step withoutFault() {
        return new Step(id, thread, kind, wants, number, null);
    }

    @Override
    public String toString() {
        String about = switch (kind) {
            case REFUND, REFUND_PART -> kind + " of call " + number;
            case ADVANCE -> "clocks advance by " + number / 1e9 + " s";
            case SET_BACK -> "wall clock is set back by " + number / 1e9 + " s";
            case SWEEP, CLEAR -> kind.name();
            default -> kind + " " + wants;
        };
        return "call %d, %s: %s%s"
                .formatted(
                        id,
                        thread == FIRST ? "first" : "thread " + thread,
                        about,
                        fault == null ? "" : ", with " + fault);
    }
}
