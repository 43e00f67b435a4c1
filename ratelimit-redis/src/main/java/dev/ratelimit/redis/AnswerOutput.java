package dev.ratelimit.redis;

import dev.ratelimit.redis.Answer.Verdict;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;

/** Reads an answer off the wire, without an object for each of its numbers. */
final class AnswerOutput extends CommandOutput<String, byte[], Answer> {

    private static final int HEAD = 2;

    private long[] numbers = {};
    private int read;

    AnswerOutput() {
        super(Link.CODEC, new Answer(Verdict.LACKS_ALGORITHM, 0, new long[0]));
    }

    @Override
    public void multi(int count) {
        numbers = new long[Math.max(0, count - HEAD)];
    }

    @Override
    public void set(long number) {
        switch (read++) {
            case 0 -> output = new Answer(verdict(number), 0, numbers);
            case 1 -> output = new Answer(output.verdict(), number, numbers);
            default -> numbers[read - 1 - HEAD] = number;
        }
    }

    /** Where the server speaks an older protocol, nothing is a text either; but a foreign proxy may. */
    @Override
    public void set(ByteBuffer bytes) {
        if (bytes != null) {
            set(Long.parseLong(decodeString(bytes)));
        }
    }

    private static Verdict verdict(long number) {
        if (number == -1) {
            return Verdict.LACKS_ALGORITHM;
        }
        if (number == -2) {
            return Verdict.OUT_OF_CALENDAR;
        }
        return number == 1 ? Verdict.ADMITTED : Verdict.REFUSED;
    }
}
