package dev.ratelimit.spring.rules.rule;

import java.util.Set;
import java.util.stream.IntStream;

/**
 * The statuses of responses that are free: their requests get a refund, all others stay charged. After the handler has
 * run, some request headers can change the status. {@code Accept} turns any response into a 406, so a 406 is never
 * free. Conditions and ranges turn a 200 into another status, which counts like the 200. Immutable.
 */
public final class FreeStatuses {

    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int OK = 200;
    private static final int NOT_ACCEPTABLE = 406;

    /** Partial content, not modified, precondition failed, range not satisfiable. */
    private static final Set<Integer> INSTEAD_OF_OK = Set.of(206, 304, 412, 416);

    private final StatusSet statuses;
    private final boolean counted;

    private FreeStatuses(StatusSet statuses, boolean counted) {
        this.statuses = statuses;
        this.counted = counted;
    }

    /**
     * All statuses but these.
     *
     * @throws IllegalArgumentException if no response can end with one of them
     */
    public static FreeStatuses allBut(StatusSet counted) {
        if (range().noneMatch(counted::contains) && !counted.names(SWITCHING_PROTOCOLS)) {
            throw new IllegalArgumentException(
                    "no response ends with " + counted + ", so nothing is charged; write 2xx to 5xx");
        }
        return new FreeStatuses(counted, true);
    }

    /**
     * These statuses.
     *
     * @throws IllegalArgumentException if it includes 406 or every status
     */
    public static FreeStatuses of(StatusSet free) {
        if (free.names(NOT_ACCEPTABLE)) {
            throw new IllegalArgumentException(
                    "406 cannot be free: with its Accept header, a request can turn any response into a 406");
        }
        if (range().allMatch(free::contains)) {
            throw new IllegalArgumentException(
                    "every response is free, so nothing is charged; write only the free statuses, such as 2xx");
        }
        return new FreeStatuses(free, false);
    }

    /** The final statuses of responses. Lower ones, except 101, are followed by another status. */
    private static IntStream range() {
        return IntStream.rangeClosed(200, 599);
    }

    /** Whether a response of this status is free. */
    public boolean contains(int status) {
        if (status == NOT_ACCEPTABLE) {
            return false;
        }
        if (!counted) {
            return statuses.contains(status);
        }
        return !statuses.contains(status) && !(INSTEAD_OF_OK.contains(status) && statuses.contains(OK));
    }

    /** Whether a conditional or range request can turn another status into this one. */
    public static boolean standsForAnother(int status) {
        return INSTEAD_OF_OK.contains(status);
    }

    /** For logs: {@code counting 401} or {@code free for 2xx}. */
    @Override
    public String toString() {
        return (counted ? "counting " : "free for ") + statuses;
    }
}
