package dev.ratelimit.spring.rules.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.ratelimit.Seeds;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which texts are the same, and what it costs to find out. */
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
    void of_marksOfALetter_areDropped_ifNoLanguageHasSoMany() {
        String marks = "\u0323\u0301".repeat(15);

        assertThat(sensitive("a" + marks + "b")).isEqualTo(unicode("a" + marks + "b", Form.NFKC));
        assertThat(sensitive("a" + marks + "\u0301b")).isEqualTo("ab");
        assertThat(sensitive("\u00e1" + marks + "b")).isEqualTo("ab");
        assertThat(sensitive("a" + "\uff9e".repeat(31) + "b")).isEqualTo("ab");
    }

    @Test
    void of_blanksAndInvisibleCharactersAtTheEnds_areDropped() {
        String blanks = " \u200b\u3000\ufeff\u0000".repeat(100);

        assertThat(sensitive(blanks + "\u00e9 b" + blanks)).isEqualTo("\u00e9 b");
        assertThat(sensitive("\u00e9" + blanks + "\u0301".repeat(31))).isEqualTo("\u00e9");
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
    @ValueSource(ints = {5, 60, 120, 400})
    void of_anotherSpelling_isTheSame(int length) {
        long seed = Seeds.next();
        Random random = new Random(seed);
        for (int i = 0; i < 500; i++) {
            String text = text(random, length);
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
    void of_marksOfALongText_inAnotherOrder_isTheSame() {
        List<String> marks = new ArrayList<>(List.of("\u0301", "\u0323", "\u0334", "\u0345", "\u0315"));
        String start = "\u00e9".repeat(100);
        String normal = insensitive(start + "a" + String.join("", marks));

        for (int i = 0; i < 100; i++) {
            Collections.shuffle(marks, new Random(i));
            assertThat(insensitive(start + "a" + String.join("", marks))).isEqualTo(normal);
        }
        assertThat(insensitive(start + "a")).isNotEqualTo(normal);
    }

    /** Of each, as many as wanted. */
    static Stream<String> nasty() {
        return Stream.of(
                "x",
                "\u00e9",
                "\u0301",
                "\uff9e",
                "\u0344",
                "\ufdfa",
                "\u1161",
                "\u11a8",
                "\uac01",
                "\u3000",
                "\u0130",
                "\ufb03",
                "\u0345",
                "a\u0323\u0302",
                "\ud81a\udd67",
                "\ud83d\ude00",
                "\ud800",
                "\udc00");
    }

    /** The most that {@link Normalizer} does: the square of the length of each text that it gets. */
    private static long work(String text, boolean ignoreCase) {
        long[] squares = {0};
        NormalText.of(text, ignoreCase, (part, form) -> {
            if (part.length() > 128) { // an assertion for each part would take most of the time
                fail("%s characters at once", part.length());
            }
            squares[0] += (long) part.length() * part.length();
            return Normalizer.normalize(part, form);
        });
        return squares[0];
    }

    @ParameterizedTest
    @MethodSource("nasty")
    void of_nastyText_givesTheNormalizerAFewStepsPerCharacter(String piece) {
        for (int length : new int[] {1 << 6, 1 << 11, 1 << 16}) {
            for (String text : List.of(
                    piece.repeat(length / piece.length()),
                    "x" + piece.repeat(length / 2 / piece.length()) + "\u0323".repeat(length / 2))) {
                long bound = 34L * (text.length() + 34) + 128 * 128;

                assertThat(work(text, false)).isLessThanOrEqualTo(bound);
                assertThat(work(text, true)).isLessThanOrEqualTo(bound);
            }
        }
    }

    /** The work on marks is bounded by their number, so no other character may behave like a mark. */
    @Test
    void marks_areAllThatTheNormalizerMoves() {
        assertThat(characters()
                        .filter(c -> unicode(c, Form.NFKD).equals(c))
                        .filter(c -> !c.matches("\\p{M}"))
                        .filter(NormalTextTest::isMoved))
                .isEmpty();
    }

    /** Whether the order of the character and a mark of the lowest or the highest class is not as written. */
    private static boolean isMoved(String c) {
        return !unicode("a" + c + "\u0334", Form.NFD).equals("a" + c + "\u0334")
                || !unicode("a\u0345" + c, Form.NFD).equals("a\u0345" + c);
    }
}
