package dev.ratelimit.redis.storm;

import java.util.List;

/** One thing that happens in a history, at a time in nanoseconds from its beginning. */
sealed interface Step {

    long atNanos();

    /** What a caller asks. */
    enum Question {
        DECIDE,
        PEEK,
        /** Refunds the decision of an earlier step, which does nothing unless it was admitted. */
        REFUND,
        /** The same with half of each charge. */
        REFUND_HALF,
        RESET,
        /** Interrupts the caller of an earlier step, if it still waits. */
        INTERRUPT
    }

    /** What is charged: the numbers of a policy and of a key, and permits. */
    record Want(int policy, int key, int permits) {

        @Override
        public String toString() {
            return permits + " of p" + policy + "/k" + key;
        }
    }

    /**
     * A call of an instance's store.
     *
     * @param id its number, by which a refund refers to it
     * @param of the number of the call that a refund or an interrupt is about
     */
    record Ask(int id, long atNanos, int instance, Question question, List<Want> wants, int of) implements Step {

        @Override
        public String toString() {
            return switch (question) {
                case REFUND, REFUND_HALF, INTERRUPT -> "instance " + instance + ": " + question + " call " + of;
                default -> "instance " + instance + ": " + question + " " + wants + " (call " + id + ")";
            };
        }
    }

    /** What goes wrong. */
    enum Fault {
        /** The process of a server ends, and starts again with its data. */
        KILLED,
        /** The same, and its data are gone. */
        EMPTIED,
        /** The machine of a server is gone for a while: nobody is told. */
        VANISHED,
        /** A server stands still, and continues with what arrived. */
        HANGING,
        SLOW_SERVER,
        /** A server refuses everything now and then. */
        UNSTABLE,
        OUT_OF_MEMORY,
        LOADING,
        READ_ONLY,
        BUSY,
        FORBIDDEN,
        CLUSTER_DOWN,
        SCRIPTS_FLUSHED,
        /** A server's clock is set forward. */
        SERVER_CLOCK_FORWARD,
        SERVER_CLOCK_BACK,
        /** A server is gone, and another one continues with older data. */
        FAIL_OVER,
        /** A slot is moved to another server, and this takes a while. */
        SLOT_MOVES,
        /** The connections between an instance and a server are cut. */
        CUT,
        /** They are dead, and nobody is told. */
        HALF_OPEN,
        /** Nothing passes between an instance and a server. */
        BLACK_HOLE,
        SLOW_NETWORK,
        /** New connections are refused. */
        REFUSED,
        /** An instance stands still. */
        PAUSED,
        /** An instance ends without a word. */
        INSTANCE_KILLED,
        /** An instance is closed with work under way. */
        CLOSED,
        /** Threads of an instance do not start. */
        NO_THREAD,
        WALL_CLOCK_MOVES,
        /** An instance gets other limits. */
        OTHER_LIMITS,
        /** A key holds what no limit of this version has written. */
        FOREIGN_VALUE;

        /** Whether a key may get permits again, or has other limits. */
        boolean changesBudgets() {
            return switch (this) {
                case EMPTIED, FAIL_OVER, SERVER_CLOCK_FORWARD, SERVER_CLOCK_BACK, OTHER_LIMITS, FOREIGN_VALUE -> true;
                default -> false;
            };
        }

        /** Whether connections may be dead after it without anybody knowing. */
        boolean killsSilently() {
            return switch (this) {
                case VANISHED, FAIL_OVER, HALF_OPEN, BLACK_HOLE -> true;
                default -> false;
            };
        }

        /** Whether servers answer all the same, and their answers put no connection in doubt. */
        boolean sparesConnections() {
            return switch (this) {
                case UNSTABLE, OUT_OF_MEMORY, LOADING, BUSY, FOREIGN_VALUE -> true;
                default -> false;
            };
        }

        /** Whether a command may be carried out long after it was sent, or by a clock that was set. */
        boolean delaysCommands() {
            return switch (this) {
                case HANGING, SLOW_SERVER, SLOW_NETWORK, SERVER_CLOCK_FORWARD, SERVER_CLOCK_BACK -> true;
                default -> false;
            };
        }

        /** Whether answers may be late or lost because of it, so that charges stay of which callers do not know. */
        boolean losesAnswers() {
            return switch (this) {
                case SCRIPTS_FLUSHED, SERVER_CLOCK_FORWARD, SERVER_CLOCK_BACK, WALL_CLOCK_MOVES, CLOSED -> false;
                default -> true;
            };
        }
    }

    /** A fault of a server, of an instance, or between the two, and how long it lasts. */
    record Trouble(long atNanos, Fault fault, int instance, int server, long forNanos) implements Step {

        @Override
        public String toString() {
            String where = switch (fault) {
                case CUT, HALF_OPEN, BLACK_HOLE, SLOW_NETWORK, REFUSED ->
                    "between instance " + instance + " and server " + server;
                case PAUSED, INSTANCE_KILLED, CLOSED, NO_THREAD, WALL_CLOCK_MOVES, OTHER_LIMITS ->
                    "instance " + instance;
                default -> "server " + server;
            };
            return where + ": " + fault + " for " + forNanos / 1_000_000 + " ms";
        }
    }
}
