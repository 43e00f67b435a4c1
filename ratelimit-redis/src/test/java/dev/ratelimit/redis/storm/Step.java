package dev.ratelimit.redis.storm;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** One thing that happens in a history, at a time in nanoseconds from its beginning. */
sealed interface Step {

    long atNanos();

    Fields fields();

    /** Reads a line of a history. */
    static Step of(Fields fields) {
        String what = fields.get("do");
        boolean asks = Arrays.stream(Question.values())
                .anyMatch(question -> question.name().equals(what));
        return asks ? Ask.of(fields) : Trouble.of(fields);
    }

    /** What a caller asks. */
    enum Question {
        DECIDE,
        PEEK,
        /** Takes permits as soon as there are some, if policies let callers wait. */
        ACQUIRE,
        /** Refunds the decision of an earlier step, which does nothing unless it was admitted. */
        REFUND,
        /** The same with half of each charge. */
        REFUND_HALF,
        RESET,
        /** Interrupts the caller of an earlier step, if it still waits. */
        INTERRUPT;

        /** Whether it is about an earlier step. */
        boolean refers() {
            return this == REFUND || this == REFUND_HALF || this == INTERRUPT;
        }
    }

    /** What is charged: the numbers of a policy and of a key, and permits. */
    record Want(int policy, int key, int permits) {

        static Want of(String text) {
            String[] parts = text.split("\\*p|/k", -1);
            return new Want(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), Integer.parseInt(parts[0]));
        }

        @Override
        public String toString() {
            return permits + "*p" + policy + "/k" + key;
        }
    }

    /**
     * A call of an instance's store.
     *
     * @param id its number, by which a refund refers to it
     * @param of the number of the call that a refund or an interrupt is about
     */
    record Ask(int id, long atNanos, int instance, Question question, List<Want> wants, int of) implements Step {

        /** Not the number of any call. */
        static final int NONE = -1;

        private static Ask of(Fields fields) {
            return new Ask(
                    fields.number("call", NONE),
                    Fields.nanos(fields.get("at")),
                    fields.number("instance", 0),
                    Question.valueOf(fields.get("do")),
                    fields.get(
                            "wants",
                            List.of(),
                            wants -> Arrays.stream(wants.split(","))
                                    .map(Want::of)
                                    .toList()),
                    fields.number("of", NONE));
        }

        @Override
        public Fields fields() {
            return new Fields()
                    .withTime("at", atNanos, -1)
                    .with("do", question, null)
                    .with("call", id, NONE)
                    .with("instance", instance, 0)
                    .with("of", of, NONE)
                    .with("wants", wants, List.of(), Ask::text);
        }

        private static String text(List<?> wants) {
            return wants.stream().map(String::valueOf).collect(Collectors.joining(","));
        }

        @Override
        public String toString() {
            return "instance " + instance + ": " + question + " "
                    + (question.refers() ? "call " + of : text(wants) + " (call " + id + ")");
        }
    }

    /** What goes wrong. {@code by} and {@code variant} are only used where it says so. */
    enum Fault {
        /** The process of a server ends, and starts again with its data. */
        KILLED,
        /** The same, and its data are gone. */
        EMPTIED,
        /** The machine of a server is gone for a while: nobody is told. */
        VANISHED,
        /** A server stands still, and continues with what arrived. */
        HANGING,
        /** Each command takes longer {@code by} this time. */
        SLOW_SERVER,
        /** A server refuses everything now and then: from one change to the next, it is {@code by} this time. */
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
        /**
         * A server is gone, and another one continues with data that are older {@code by} this time. Variants: 1 the
         * clients are told, 2 the former one stays away; 4 and so on: the first server does not hear of it soon.
         */
        FAIL_OVER,
        /** The slot of a key is moved to another server, and this takes a while. */
        SLOT_MOVES,
        /** The connections between an instance and a server are cut. */
        CUT,
        /** They are dead, and nobody is told. */
        HALF_OPEN,
        /** Nothing passes between an instance and a server. */
        BLACK_HOLE,
        /** Each message takes longer {@code by} this time. */
        SLOW_NETWORK,
        /** New connections are refused. */
        REFUSED,
        /** Something between an instance and a server gives the next reply twice. */
        REPLY_TWICE,
        /** It loses the next reply, but not those after it. */
        REPLY_LOST,
        /** It loses the end of the next reply, and the client reads on in the one after it. */
        REPLY_CUT,
        /** It gives the next reply after the one that follows. */
        REPLIES_SWAPPED,
        /** An instance stands still. */
        PAUSED,
        /** An instance ends without a word. */
        INSTANCE_KILLED,
        /** An instance is closed with work under way. */
        CLOSED,
        /** Threads of an instance do not start. */
        NO_THREAD,
        /** An instance's wall clock is set forward or, in variant 1, back. */
        WALL_CLOCK_MOVES,
        /** An instance gets the other limits of each policy. */
        OTHER_LIMITS,
        /** A limit's key holds what no limit of this version has written. */
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

        /** Whether a client may take the reply to one command for that to another. */
        boolean confusesReplies() {
            return switch (this) {
                case REPLY_TWICE, REPLY_LOST, REPLY_CUT, REPLIES_SWAPPED -> true;
                default -> false;
            };
        }
    }

    /** What a fault concerns; most concern only some of these. */
    record Target(int instance, int server, int policy, int key, int limit) {}

    /** A fault, how long it lasts, and how large it is. */
    record Trouble(long atNanos, Fault fault, Target target, long forNanos, long byNanos, int variant) implements Step {

        private static Trouble of(Fields fields) {
            return new Trouble(
                    Fields.nanos(fields.get("at")),
                    Fault.valueOf(fields.get("do")),
                    new Target(
                            fields.number("instance", 0),
                            fields.number("server", 0),
                            fields.number("policy", 0),
                            fields.number("key", 0),
                            fields.number("limit", 0)),
                    fields.time("for", 0),
                    fields.time("by", 0),
                    fields.number("variant", 0));
        }

        int instance() {
            return target.instance;
        }

        int server() {
            return target.server;
        }

        @Override
        public Fields fields() {
            return new Fields()
                    .withTime("at", atNanos, -1)
                    .with("do", fault, null)
                    .with("instance", target.instance, 0)
                    .with("server", target.server, 0)
                    .with("policy", target.policy, 0)
                    .with("key", target.key, 0)
                    .with("limit", target.limit, 0)
                    .withTime("for", forNanos, 0)
                    .withTime("by", byNanos, 0)
                    .with("variant", variant, 0);
        }

        private String where() {
            return switch (fault) {
                case CUT,
                        HALF_OPEN,
                        BLACK_HOLE,
                        SLOW_NETWORK,
                        REFUSED,
                        REPLY_TWICE,
                        REPLY_LOST,
                        REPLY_CUT,
                        REPLIES_SWAPPED -> "between instance " + target.instance + " and server " + target.server;
                case PAUSED, INSTANCE_KILLED, CLOSED, NO_THREAD, WALL_CLOCK_MOVES, OTHER_LIMITS ->
                    "instance " + target.instance;
                case FOREIGN_VALUE, SLOT_MOVES -> "p" + target.policy + "/k" + target.key + ", limit " + target.limit;
                default -> "server " + target.server;
            };
        }

        @Override
        public String toString() {
            return where() + ": " + fault + " for " + forNanos / 1_000_000 + " ms"
                    + (byNanos == 0 ? "" : " by " + byNanos / 1_000_000 + " ms");
        }
    }
}
