package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuotationTest {

    @Test
    void of_printableAscii_isQuotedAsItIs() {
        assertThat(Quotation.of(" a/b~")).isEqualTo("' a/b~'");
        assertThat(Quotation.of("")).isEqualTo("''");
    }

    @Test
    void of_anythingElse_isEscaped() {
        assertThat(Quotation.of("a\nb\u007f\u00e9\u202e")).isEqualTo("'a\\u000ab\\u007f\\u00e9\\u202e'");
    }

    @Test
    void of_longText_isCutAfter60Characters() {
        assertThat(Quotation.of("x".repeat(60))).isEqualTo("'" + "x".repeat(60) + "'");
        assertThat(Quotation.of("x".repeat(61))).isEqualTo("'" + "x".repeat(60) + "...'");
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "3, 3", "-1, 0", "9, 5"})
    void pointingAt_place_hasTheCaretBelowIt(int position, int caret) {
        assertThat(Quotation.pointingAt(position, "/a/{b"))
                .isEqualTo("\n      /a/{b\n      " + " ".repeat(caret) + "^");
    }

    @Test
    void pointingAt_placeInALongText_showsWhatIsAroundIt() {
        String text = "a".repeat(40) + "b".repeat(60) + "c".repeat(60) + "d";

        assertThat(Quotation.pointingAt(100, text))
                .isEqualTo("\n      " + "b".repeat(60) + "c".repeat(60) + "\n      " + " ".repeat(60) + "^");
    }

    @Test
    void message_ofAParser_isPrintableAndAtMost200Characters() {
        assertThat(Quotation.message("a\n~ \u007f\u00e9\u202e")).isEqualTo("a?~ ?\u00e9?");
        assertThat(Quotation.message("x".repeat(201))).isEqualTo("x".repeat(200));
        assertThat(Quotation.message(null)).isEqualTo("null");
    }
}
