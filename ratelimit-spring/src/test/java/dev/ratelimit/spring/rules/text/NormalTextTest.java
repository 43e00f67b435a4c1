package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which texts are the same. */
class NormalTextTest {

    private static final IntPredicate SURROGATE = c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;

    private static Stream<String> characters() {
        return IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
                .filter(SURROGATE.negate())
                .filter(Character::isDefined)
                .mapToObj(Character::toString);
    }

    private static String unicode(String text, Form form) {
        return Normalizer.normalize(text, form);
    }

    private static String sensitive(String text) {
        return NormalText.of(text, false);
    }

    private static String insensitive(String text) {
        return NormalText.of(text, true);
    }

    @Test
    void of_everyCharacterBetweenOthers_isItsUnicodeForm() {
        assertThat(characters().map(c -> "e" + c + "\u0301x"))
                .allSatisfy(text -> assertThat(sensitive(text)).isEqualTo(unicode(text, Form.NFKC)));
    }

    @Test
    void of_everyCharacter_ignoringCase_isThatOfItsOtherCases() {
        assertThat(characters().map(c -> "a" + c + "a")).allSatisfy(text -> {
            String normal = insensitive(text);
            assertThat(insensitive(text.toUpperCase(Locale.ROOT))).isEqualTo(normal);
            assertThat(insensitive(text.toLowerCase(Locale.ROOT))).isEqualTo(normal);
            assertThat(insensitive(
                            text.charAt(0) + Character.toString(Character.toTitleCase(text.codePointAt(1))) + "a"))
                    .isEqualTo(normal);
            assertThat(insensitive(normal)).isEqualTo(normal);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"stra\u00dfe", "STRASSE", "STRA\u1e9eE", "Stra\u017f\u017fe"})
    void of_everySharpS_ignoringCase_isTwoLetters(String text) {
        assertThat(insensitive(text)).isEqualTo("strasse");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\u1fb7", "\u03b1\u0345\u0342", "\u03b1\u0342\u0345", "\u03b1\u0342\u03b9", "\u0391\u0342\u0399"
            })
    void of_iotaBelowOrBesideALetter_ignoringCase_isTheSame(String text) {
        assertThat(insensitive(text)).isEqualTo("\u1fb6\u03b9");
    }

    @Test
    void of_blanksAndInvisibleCharactersAtTheEnds_areDropped() {
        String blanks = " \u200b\u3000\ufeff\u0000".repeat(100);

        assertThat(sensitive(blanks + "\u00e9 b" + blanks)).isEqualTo("\u00e9 b");
        assertThat(sensitive("\u00e9" + "\u00a0".repeat(300))).isEqualTo("\u00e9");
        assertThat(sensitive(blanks)).isEmpty();
    }

    /** Letters with marks of several classes, which compose with some, and what decomposes into several letters. */
    private static String text(Random random, int length) {
        String[] pieces = {
            "a",
            "i",
            "I",
            "\u0130",
            "\u00e9",
            "\u1ec7",
            "\uac01",
            "\u1100",
            "\u1161",
            "\u11a8",
            "\ufdfa",
            "\uff76",
            "\uff9e",
            "\u0301",
            "\u0307",
            "\u0323",
            "\u0334",
            "\u0345",
            "\u1fb3",
            "\u20dd",
            "\u00df",
            "\u1e9e",
            "\ud834\udd5e",
            "\ud804\udd31\ud804\udd27",
            "\u09c7",
            "\u09be",
            "\ud81a\udd63",
            "\ud81a\udd67",
            " "
        };
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            String piece = pieces[random.nextInt(pieces.length)];
            text.append(random.nextInt(8) == 0 ? piece.repeat(random.nextInt(40)) : piece);
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 20, 60})
    void of_anotherSpelling_isTheSame(int length) {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < 1_000; i++) {
            String text = text(random, length);
            if (2 * unicode(text, Form.NFKD).length() > NormalText.MAX_NORMALIZED) {
                continue;
            }
            for (Form form : Form.values()) {
                String spelling = unicode(text, form);

                assertThat(sensitive(spelling)).as("seed %s", seed).isEqualTo(sensitive(text));
                assertThat(insensitive(spelling)).as("seed %s", seed).isEqualTo(insensitive(text));
            }
            // as a capital, the iota below is a letter, which keeps the marks after it
            String without = text.replaceAll("[\u0345\u1fb3]", "");
            assertThat(insensitive(without.toUpperCase(Locale.ROOT)))
                    .as("seed %s", seed)
                    .isEqualTo(insensitive(without.toLowerCase(Locale.ROOT)))
                    .isEqualTo(insensitive(without));
        }
    }

    @Test
    void of_longText_isComparedAsItIsWritten() {
        String decomposed = "e\u0301".repeat(129);

        assertThat(sensitive(" " + decomposed + " ")).isEqualTo(decomposed);
        assertThat(insensitive("E\u0301".repeat(129))).isEqualTo(decomposed);
        assertThat(sensitive("e\u0301".repeat(128))).isEqualTo("\u00e9".repeat(128));
    }
}
