package dev.ratelimit.spring.rules.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatusSetTest {

    private final StatusSet statuses = new StatusSet(List.of(" 401", "5XX", "100", "599"));

    @ParameterizedTest
    @ValueSource(ints = {100, 401, 500, 550, 599})
    void contains_writtenOrOfAWrittenHundred(int status) {
        assertThat(statuses.contains(status)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 101, 400, 402, 499, 600})
    void contains_another_isFalse(int status) {
        assertThat(statuses.contains(status)).isFalse();
    }

    @Test
    void names_onlyWhatIsWrittenInFull() {
        assertThat(statuses.names(401)).isTrue();
        assertThat(statuses.names(500)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "99", "099", "600", "6xx", "0xx", "xxx", "4x", "40x", "4xxx", "4040", "-10", "\u0664xx", "ok"
            })
    void new_noStatus_isRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StatusSet(List.of(text)))
                .withMessage(Quotation.of(text) + " is not a status; write 401 or 5xx");
    }

    @Test
    void toString_isWhatIsWritten() {
        assertThat(statuses).hasToString("401, 5XX, 100, 599");
    }
}
