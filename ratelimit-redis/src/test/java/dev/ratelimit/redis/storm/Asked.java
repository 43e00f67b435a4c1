package dev.ratelimit.redis.storm;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a script was asked about one limit, and what it answered.
 *
 * @param numbers the permits and the three parameters of the algorithm
 * @param taken whether the permits were taken
 * @param state the numbers of the limit's state
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
record Asked(String key, char algorithm, ByteBuffer numbers, boolean taken, long[] state) {

    /** Where the number of a charge is among the numbers. */
    private static final int ID = 4 * Double.BYTES;

    /** Reads a command, and its reply if that is known. */
    static List<Asked> of(String operation, String[] keys, byte[][] arguments, long @Nullable [] answer) {
        // the time, and the question; a void charge has no more
        long[] reply = answer != null && answer.length > 2 ? answer : null;
        List<Asked> asked = new ArrayList<>();
        ByteBuffer plan = ByteBuffer.wrap(arguments[2]);
        int at = 2;
        while (plan.hasRemaining()) {
            boolean answered = reply != null && reply[at] >= 0 && !operation.equals("refund");
            boolean taken = reply != null && reply[at] == 1;
            at++;
            for (int limits = plan.getShort(); limits > 0; limits--) {
                String key = keys[plan.getShort() - 1];
                int terms = 2 * plan.getShort() + 1;
                char algorithm = (char) arguments[terms][0];
                int numbers = answered ? numbers(algorithm) : 0;
                long[] state = reply == null ? new long[0] : Arrays.copyOfRange(reply, at, at + numbers);
                asked.add(new Asked(key, algorithm, ByteBuffer.wrap(arguments[terms + 1]), taken, state));
                at += numbers;
            }
        }
        return asked;
    }

    /** What a script is to do. */
    static String operation(byte[][] arguments) {
        return new String(arguments[0], StandardCharsets.US_ASCII);
    }

    /** What a script did, in words. */
    static String text(String[] keys, byte[][] arguments, long[] reply) {
        String operation = operation(arguments);
        if (operation.equals("reset")) {
            return operation + " " + String.join(" ", keys);
        }
        return of(operation, keys, arguments, reply).stream()
                .map(asked -> operation + " " + asked.permits() + " of " + asked.key()
                        + (asked.kind() == 'c' ? " no. " + asked.stamp(0) : "")
                        + (asked.taken() ? "" : " in vain"))
                .collect(Collectors.joining(", "));
    }

    /** How many numbers a reply holds of a limit with this algorithm. */
    private static int numbers(char algorithm) {
        return switch (algorithm) {
            case 't' -> 1;
            case 'i' -> 2;
            case 'f', 's' -> 3;
            case 'l', 'c' -> 4;
            case 'T', 'I', 'F', 'S', 'L' -> 1 + numbers(Character.toLowerCase(algorithm));
            default -> throw new IllegalArgumentException("algorithm " + algorithm);
        };
    }

    /** The algorithm, whether or not it has a penalty. */
    char kind() {
        return Character.toLowerCase(algorithm);
    }

    /** A parameter of the algorithm, from 1 to 3. */
    double parameter(int number) {
        return numbers.getDouble(Double.BYTES * number);
    }

    /** A number of the state of the limit itself: that of a penalty comes first. */
    double number(int index) {
        return state[index + (Character.isUpperCase(algorithm) ? 1 : 0)];
    }

    long permits() {
        return (long) numbers.getDouble(0);
    }

    /** What its charge is known by: the number of held permits, and otherwise the time. */
    long stamp(long atMicros) {
        return kind() == 'c' ? (long) numbers.getDouble(ID) : atMicros;
    }

    /** Whether a script has left something undecided: a charge was void, or it lacked an algorithm or a calendar. */
    static boolean isUndecided(long[] reply) {
        return reply.length == 2 || Arrays.stream(reply).anyMatch(number -> number < 0);
    }

    /** For a refund, the time of its charge. */
    static long at(byte[][] arguments) {
        return Long.parseLong(new String(arguments[1], StandardCharsets.US_ASCII));
    }

    /** Whether a refund returns anything of this limit; without a time, only held permits come back. */
    boolean isKnown(long atMicros) {
        return kind() == 'c' || atMicros > 0;
    }

    boolean isBucket() {
        return algorithm == 't';
    }

    double capacity() {
        return numbers.getDouble(8) / (isBucket() ? numbers.getDouble(24) : 1);
    }

    /** How many permits a bucket has left. */
    double remaining() {
        return Math.floor((numbers.getDouble(8) - state[0]) / numbers.getDouble(24));
    }

    /** In how many microseconds a bucket is full. */
    double fullAfterMicros() {
        return state[0] / numbers.getDouble(16);
    }

    /** How many permits a bucket refills in so many microseconds. */
    double refilled(double micros) {
        return micros * numbers.getDouble(16) / numbers.getDouble(24);
    }
}
