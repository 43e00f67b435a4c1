package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokensTest {

    @ParameterizedTest
    @ValueSource(strings = {"a", "z", "A", "Z", "0", "9", "X-Api-Key", "!#$%&'*+-.^_`|~"})
    void isToken_lettersDigitsAndSomeSigns(String text) {
        assertThat(Tokens.isToken(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a:", "a/b", "(a)", "{", "@", "[", "\u00e9", "\u0661", "\u0000"})
    void isToken_anythingElse_isFalse(String text) {
        assertThat(Tokens.isToken(text)).isFalse();
    }

    @Test
    void isToken_moreThan100Characters_isFalse() {
        assertThat(Tokens.isToken("x".repeat(100))).isTrue();
        assertThat(Tokens.isToken("x".repeat(101))).isFalse();
    }

    @Test
    void indexOf_searchesFromThereToThere() {
        assertThat(Tokens.indexOf("a,b,c", ',', 0, 5)).isEqualTo(1);
        assertThat(Tokens.indexOf("a,b,c", ',', 1, 5)).isEqualTo(1);
        assertThat(Tokens.indexOf("a,b,c", ',', 2, 5)).isEqualTo(3);
        assertThat(Tokens.indexOf("a,b,c", ',', 2, 3)).isEqualTo(-1);
        assertThat(Tokens.indexOf("a,b,c", ',', 4, 5)).isEqualTo(-1);
    }
}
