package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ratelimit.redis.Answer.Verdict;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerOutputTest {

    private final AnswerOutput output = new AnswerOutput();

    private Answer read(long... numbers) {
        output.multi(numbers.length);
        for (long number : numbers) {
            output.set(number);
        }
        return output.get();
    }

    @Test
    void get_numbers_areVerdictTimeAndStates() {
        Answer answer = read(1, 123, 7, 8);

        assertThat(answer.verdict()).isEqualTo(Verdict.ADMITTED);
        assertThat(answer.nowMicros()).isEqualTo(123);
        assertThat(answer.numbers()).containsExactly(7, 8);
    }

    @ParameterizedTest
    @CsvSource({
        "1, ADMITTED, true, true",
        "0, REFUSED, true, false",
        "-1, LACKS_ALGORITHM, false, false",
        "-2, OUT_OF_CALENDAR, false, false"
    })
    void get_verdict_isTheFirstNumber(long number, Verdict verdict, boolean decided, boolean admitted) {
        Answer answer = read(number);

        assertThat(answer.verdict()).isEqualTo(verdict);
        assertThat(answer.decided()).isEqualTo(decided);
        assertThat(answer.admitted()).isEqualTo(admitted);
        assertThat(answer.numbers()).isEmpty();
    }

    @Test
    void get_nothingRead_isUndecided() {
        assertThat(output.get().decided()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {2, -3, Long.MAX_VALUE})
    void set_noVerdict_isAFailure(long number) {
        output.multi(2);

        assertNoAnswer(() -> output.set(number));
    }

    @Test
    void set_moreNumbersThanAnnounced_isAFailure() {
        assertNoAnswer(() -> output.set(1));

        read(1, 123, 7);
        assertNoAnswer(() -> output.set(8));
    }

    @Test
    void multi_twice_isAFailure() {
        output.multi(3);

        assertNoAnswer(() -> output.multi(3));
    }

    @Test
    void multi_moreThanAnyDecisionTakes_isAFailure() {
        assertNoAnswer(() -> output.multi((1 << 20) + 1));

        output.multi(1 << 20);
        output.set(1);
        assertThat(output.get().numbers()).hasSize((1 << 20) - 2);
    }

    @Test
    @SuppressWarnings("NullAway") // the driver passes null for a missing text
    void set_text_isItsNumber_butNothingIsNone() {
        output.multi(1);
        output.set(ByteBuffer.wrap("0".getBytes(StandardCharsets.US_ASCII)));

        assertThat(output.get().verdict()).isEqualTo(Verdict.REFUSED);
        assertNoAnswer(() -> output.set((ByteBuffer) null));
    }

    private static void assertNoAnswer(Runnable reading) {
        assertThatExceptionOfType(StoreFailure.class)
                .isThrownBy(reading::run)
                .withMessageContaining("unexpected reply to a rate limit script");
    }
}
