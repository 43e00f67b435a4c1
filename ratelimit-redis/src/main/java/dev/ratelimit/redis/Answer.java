package dev.ratelimit.redis;

/**
 * What a script answers.
 *
 * @param verdict whether all admitted, or why the script could not say
 * @param nowMicros the server's time
 * @param numbers of the limits' states, one after another; see {@link RedisLimit}
 */
@SuppressWarnings("ArrayRecordComponent") // read once, never compared
record Answer(Verdict verdict, long nowMicros, long[] numbers) {

    enum Verdict {
        ADMITTED,
        REFUSED,
        /** A limit was changed, and the script lacks the algorithm of the former one. */
        LACKS_ALGORITHM,
        /** The boundaries of calendar windows that it was given are not those around the server's time. */
        OUT_OF_CALENDAR
    }

    /** Whether it says that all were admitted, or that not. */
    boolean decided() {
        return verdict == Verdict.ADMITTED || verdict == Verdict.REFUSED;
    }

    boolean admitted() {
        return verdict == Verdict.ADMITTED;
    }
}
