package dev.ratelimit;

import static dev.ratelimit.Fuzz.refusing;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RateFuzzTest {

    private static final int MAX_SHOWN = 20;

    private final Fuzz fuzz = Fuzz.of(RateFuzzTest.class, "rates.txt");

    @Test
    void parse_anyText_isARateThatIsReadBackOrIsRefused() {
        fuzz.run(refusing(text -> {
            Rate rate = Rate.parse(text);

            assertThat(rate.permits()).isPositive();
            assertThat(rate.periodNanos()).isPositive();
            assertThat(Rate.parse(rate.toString())).isEqualTo(rate);
            assertThat(rate.toString()).hasSizeLessThan(80).matches("[ -~]+");
            assertThat(rate.describe()).startsWith(rate.permits() + " per ");
        }));
    }

    @Test
    void parseAll_anyText_isRatesOfDifferentPeriodsOrIsRefused() {
        fuzz.run(refusing(text -> {
            List<Rate> rates = Rate.parseAll(text);

            assertThat(rates).isNotEmpty();
            assertThat(rates.stream().map(Rate::period)).doesNotHaveDuplicates();
            assertThat(rates).hasSameSizeAs(text.split(";", -1));
        }));
    }

    @Test
    void parse_refusal_namesWhatWasWritten() {
        fuzz.run(text -> {
            try {
                Rate.parse(text);
            } catch (IllegalArgumentException refused) {
                assertThat(refused).hasMessageContaining(text.isBlank() ? "empty" : beginning(text.strip()));
            }
        });
    }

    /** The part of the text that needs no escape. */
    private static String beginning(String text) {
        int plain = 0;
        while (plain < Math.min(text.length(), MAX_SHOWN) && text.charAt(plain) >= ' ' && text.charAt(plain) <= '~') {
            plain++;
        }
        return text.substring(0, plain);
    }

    @Test
    void parse_largeText_isReadInAStepPerCharacter() {
        fuzz.runLarge(512, "", refusing(Rate::parse));
    }
}
