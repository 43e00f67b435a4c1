package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.text.CountedText;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueryStringTest {

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "q=1, 1",
                "&q=1, 1",
                "&&q=1&&, 1",
                "=1&q=2, 2",
                "q, ''",
                "q=, ''",
                "q==, =",
                "q=a+b, a b",
                "q=%2541, %41",
                "q=1&q=2, none",
                "q&q=2, none",
                "q=1&%71=2, none",
                "a=q, none",
                "'', none",
                "none, none"
            })
    void only_name_isTheValueUnlessItOccursTwice(@Nullable String query, @Nullable String value) {
        assertThat(QueryString.only(query, "q")).isEqualTo(value);
    }

    @Test
    void only_textOfAClient_readsACharacterAFewTimes() {
        CountedText.checkReads(
                List.of(
                        "&",
                        "=",
                        "q",
                        "q&",
                        "%",
                        "%7",
                        "%71",
                        "%71=",
                        "+",
                        "%zz&",
                        "%71=1&",
                        "q=1&",
                        "=&",
                        "%2571=%26&"),
                query -> QueryString.only(query, "q"));
    }
}
