package dev.ratelimit.redis;

import dev.ratelimit.redis.Answer.Verdict;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;

/**
 * Reads an answer off the wire without allocating an object per number. A reply that is not a script's answer is a
 * failure.
 */
final class AnswerOutput extends CommandOutput<String, byte[], Answer> {

    private static final int HEAD = 2;

    /** More numbers than any decision needs. */
    private static final int MAX_ELEMENTS = 1 << 20;

    private long[] numbers = {};
    private int elements;
    private int read;

    AnswerOutput() {
        super(LettuceConnection.CODEC, new Answer(Verdict.LACKS_ALGORITHM, 0, new long[0]));
    }

    @Override
    public void multi(int count) {
        if (elements > 0 || count > MAX_ELEMENTS) {
            throw noAnswer();
        }
        elements = count;
        numbers = new long[Math.max(0, count - HEAD)];
    }

    @Override
    public void set(long number) {
        if (read == elements) {
            throw noAnswer();
        }
        switch (read++) {
            case 0 -> output = new Answer(verdict(number), 0, numbers);
            case 1 -> output = new Answer(output.verdict(), number, numbers);
            default -> numbers[read - 1 - HEAD] = number;
        }
    }

    /** Scripts answer with integers only, in RESP2 as well, but some proxies return bulk strings. */
    @Override
    public void set(ByteBuffer bytes) {
        if (bytes == null) {
            throw noAnswer();
        }
        set(Long.parseLong(decodeString(bytes)));
    }

    private static Verdict verdict(long number) {
        if (number == -1) {
            return Verdict.LACKS_ALGORITHM;
        }
        if (number == -2) {
            return Verdict.OUT_OF_CALENDAR;
        }
        if (number != 0 && number != 1) {
            throw noAnswer();
        }
        return number == 1 ? Verdict.ADMITTED : Verdict.REFUSED;
    }

    /** The failure for a reply that is not a script's answer. */
    static StoreFailure noAnswer() {
        return new StoreFailure(RedisStoreFailure.ERROR, "unexpected reply to a rate limit script");
    }
}
