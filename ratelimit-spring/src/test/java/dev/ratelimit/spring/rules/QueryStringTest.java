package dev.ratelimit.spring.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
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
}
