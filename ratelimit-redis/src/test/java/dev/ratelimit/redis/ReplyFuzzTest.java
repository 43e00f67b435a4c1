package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Fuzz;
import io.lettuce.core.protocol.RedisStateMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Replies that a server, or a proxy in front of it, may send to a script. */
class ReplyFuzzTest {

    /** The number of elements. A count that is not a number is the driver's concern. */
    private static final Pattern ARRAY = Pattern.compile("[*~>]([0-9]{1,9})\r\n");

    private final Fuzz replies = Fuzz.of(ReplyFuzzTest.class, "replies.txt");

    /** What the driver returns for a reply: its numbers, or {@code null} if it reports a failure or waits for more. */
    private static long @Nullable [] read(String reply) {
        ReplyOutput output = new ReplyOutput();
        List<Throwable> failures = new ArrayList<>();
        ByteBuf bytes = Unpooled.wrappedBuffer(reply.getBytes(StandardCharsets.ISO_8859_1));
        RedisStateMachine machine = new RedisStateMachine();
        try {
            boolean complete = machine.decode(bytes, output, failures::add);
            return complete && failures.isEmpty() && !output.hasError() ? output.get() : null;
        } catch (RuntimeException notTheProtocol) {
            return null; // the driver then closes the connection
        } finally {
            machine.close();
        }
    }

    @Test
    void read_anyReply_isNoAnswerOrSaysAllThatItHolds() {
        replies.run(reply -> {
            long[] numbers = read(reply);

            Matcher array = ARRAY.matcher(reply);
            if (numbers != null && numbers.length > 0 && array.lookingAt()) {
                assertThat(numbers).hasSize(Integer.parseInt(array.group(1)));
            }
            assertThat(numbers == null || numbers.length == 0 || "*~>%".indexOf(reply.charAt(0)) >= 0)
                    .isTrue();
        });
    }
}
