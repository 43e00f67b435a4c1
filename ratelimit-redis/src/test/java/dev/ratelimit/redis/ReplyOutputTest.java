package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.remote.StoreFailure;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ReplyOutputTest {

    private final ReplyOutput output = new ReplyOutput();

    private long[] read(long... numbers) {
        output.multi(numbers.length);
        for (long number : numbers) {
            output.set(number);
        }
        return output.get();
    }

    @Test
    void get_numbers_areThoseOfTheReply() {
        assertThat(read(123, 1, 7, 8)).containsExactly(123, 1, 7, 8);
    }

    @Test
    void get_nothingRead_isEmpty() {
        assertThat(output.get()).isEmpty();
    }

    @Test
    void set_moreNumbersThanAnnounced_isAFailure() {
        assertNoAnswer(() -> output.set(1));

        read(123, 1, 7);
        assertNoAnswer(() -> output.set(8));
    }

    @Test
    void multi_twice_isAFailure() {
        output.multi(3);

        assertNoAnswer(() -> output.multi(3));
    }

    @Test
    void multi_moreThanAnyReplyNeeds_isAFailure() {
        assertNoAnswer(() -> output.multi((1 << 20) + 1));

        output.multi(1 << 20);
        assertThat(output.get()).hasSize(1 << 20);
    }

    @Test
    @SuppressWarnings("NullAway") // the driver passes null for a missing text
    void set_text_isItsNumber_butNothingIsNone() {
        output.multi(1);
        output.set(ByteBuffer.wrap("17".getBytes(StandardCharsets.US_ASCII)));

        assertThat(output.get()).containsExactly(17);
        assertNoAnswer(() -> output.set((ByteBuffer) null));
    }

    private static void assertNoAnswer(Runnable reading) {
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(reading::run)
                .withMessageContaining("unexpected reply to a rate limit script");
    }
}
