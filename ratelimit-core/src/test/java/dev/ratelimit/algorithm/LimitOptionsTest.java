package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.algorithm.FixedWindow.Align;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitOptionsTest {

    @Test
    void with_null_leavesItUnsaid() {
        LimitOptions burst = LimitOptions.NONE.with("burst", 20);

        assertThat(burst.names()).containsExactly("burst");
        assertThat(burst.with("burst", null).names()).isEmpty();
        assertThat(burst.with("burst", null).number("burst", 7)).isEqualTo(7);
        assertThat(burst.with("burst", 30).number("burst", 7)).isEqualTo(30);
    }

    @ParameterizedTest
    @ValueSource(strings = {"first-hit", "first_hit", "FIRST_HIT", "First-Hit"})
    void choice_anyCase_isRead(String written) {
        assertThat(LimitOptions.NONE.with("align", written).choice("align", Align.CLOCK))
                .isEqualTo(Align.FIRST_HIT);
    }

    @Test
    void zone_name_isRead() {
        assertThat(LimitOptions.NONE.with("zone", "Europe/Berlin").zone("zone", ZoneOffset.UTC))
                .isEqualTo(ZoneId.of("Europe/Berlin"));
        assertThat(LimitOptions.NONE.zone("zone", ZoneOffset.UTC)).isEqualTo(ZoneOffset.UTC);
    }

    @Test
    void value_unreadable_saysWhatMayBeWritten() {
        LimitOptions wrong =
                LimitOptions.NONE.with("burst", "many").with("align", "often").with("zone", "Mars/Base");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> wrong.number("burst", 1))
                .withMessage("burst must be a whole number but was 'many'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> wrong.choice("align", Align.CLOCK))
                .withMessage("align must be first-hit or clock but was 'often'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> wrong.zone("zone", ZoneOffset.UTC))
                .withMessage("zone must be a time zone, such as Europe/Berlin, but was 'Mars/Base'");
    }
}
