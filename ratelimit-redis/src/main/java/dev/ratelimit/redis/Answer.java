package dev.ratelimit.redis;

/**
 * The answer of a script.
 *
 * @param verdict whether all limits admitted, or why the script could not decide
 * @param nowMicros the server's time
 * @param numbers the limits' states, one after another; see {@link RedisLimit}
 */
@SuppressWarnings("ArrayRecordComponent") // read once, never compared
record Answer(Verdict verdict, long nowMicros, long[] numbers) {

    enum Verdict {
        ADMITTED,
        REFUSED,
        /** The limit has changed, and the script does not contain the former algorithm. */
        LACKS_ALGORITHM,
        /** The calendar boundaries passed to the script do not surround the server's time. */
        OUT_OF_CALENDAR
    }

    /** Whether the script reached a decision. */
    boolean decided() {
        return verdict == Verdict.ADMITTED || verdict == Verdict.REFUSED;
    }

    boolean admitted() {
        return verdict == Verdict.ADMITTED;
    }
}
