package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The meter sees work that grows faster than its input, also where only the JDK repeats it. */
class StepMeterTest {

    private static final StepMeter METER = meter();

    private static StepMeter meter() {
        try {
            return new StepMeter();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterAll
    static void close() throws Exception {
        METER.close();
    }

    static Stream<Arguments> works() {
        return Stream.of(
                arguments("a loop in a method of String", 2, "a", work(text -> text.indexOf('x'))),
                arguments("upper case", 2, "\u00e4", work(text -> text.toUpperCase(Locale.ROOT))),
                arguments("marks in order", 2, "a\u0323\u0301", work(text -> Normalizer.normalize(text, Form.NFD))),
                arguments("marks out of order", 4, "\u0301", work(StepMeterTest::sortMarks)),
                arguments("two wildcards", 4, "-", work(text -> Pattern.matches(".*-.*x", text))));
    }

    private static void sortMarks(String marks) {
        Normalizer.normalize(marks + marks.replace('\u0301', '\u0323'), Form.NFD);
    }

    private static Consumer<String> work(Consumer<String> work) {
        return work;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("works")
    void steps_ofTwiceTheLength(String name, int growth, String piece, Consumer<String> work) {
        work.accept(piece);

        long once = METER.stepsOf(() -> work.accept(piece.repeat(1_000)));
        long twice = METER.stepsOf(() -> work.accept(piece.repeat(2_000)));

        assertThat((double) twice / once).isCloseTo(growth, within(0.2 * growth));
    }

    @Test
    void step_tooMany_fails() {
        String dashes = "-".repeat(20_000);

        assertThatThrownBy(() -> METER.stepsOf(() -> Pattern.matches(".*-.*-.*x", dashes)))
                .hasMessage("too many steps");
        assertThat(Steps.stop()).isGreaterThan(Steps.MAX);
    }
}
