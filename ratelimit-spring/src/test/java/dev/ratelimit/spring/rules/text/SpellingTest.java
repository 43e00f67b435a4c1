package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {

    private static final List<String> NAMES = List.of("limit", "key", "algorithm", "burst", "trusted-proxies");

    @ParameterizedTest
    @CsvSource({
        "limit, limit",
        "limits, limit",
        "limt, limit",
        "lmiit, limit",
        "bust, burst",
        "kye, key",
        "k, key",
        "xxlimit, limit",
        "xxxlimit, ",
        "limitxxx, limit",
        "limitxxxx, ",
        "limyyy, ",
        "limixyz, limit",
        "trusted-proxys, trusted-proxies",
        "xtrustedd-prroxiess, trusted-proxies",
        "trusted-xxxxxxxx, ",
        "something, "
    })
    void closest_ofSomeNames_isTheOneThatIsSimilar(String written, @Nullable String expected) {
        assertThat(Spelling.closest(written, NAMES)).isEqualTo(expected);
    }
}
