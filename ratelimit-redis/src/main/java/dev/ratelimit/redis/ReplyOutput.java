package dev.ratelimit.redis;

import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;

/**
 * Reads a script's reply off the wire without allocating an object per number. A reply that does not consist of whole
 * numbers is a failure.
 */
final class ReplyOutput extends CommandOutput<String, byte[], long[]> {

    /** More numbers than any reply needs. */
    private static final int MAX_ELEMENTS = 1 << 20;

    private boolean announced;
    private int read;

    ReplyOutput() {
        super(LettuceConnection.CODEC, new long[0]);
    }

    @Override
    public void multi(int count) {
        if (announced || count > MAX_ELEMENTS) {
            throw Reply.unexpected();
        }
        announced = true;
        output = new long[Math.max(0, count)];
    }

    @Override
    public void set(long number) {
        if (read == output.length) {
            throw Reply.unexpected();
        }
        output[read++] = number;
    }

    /** Scripts answer with integers only, in RESP2 as well, but some proxies return bulk strings. */
    @Override
    public void set(ByteBuffer bytes) {
        if (bytes == null) {
            throw Reply.unexpected();
        }
        try {
            set(Long.parseLong(decodeString(bytes)));
        } catch (NumberFormatException e) {
            throw Reply.unexpected();
        }
    }
}
