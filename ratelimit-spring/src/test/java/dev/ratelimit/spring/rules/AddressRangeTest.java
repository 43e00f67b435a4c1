package dev.ratelimit.spring.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.1.0.0/16, true",
        "10.0.0.0/8, 11.0.0.0/8, false",
        "10.0.0.1, 10.0.0.1, true",
        "10.0.0.1, 10.0.0.0, false",
        "0.0.0.0/0, 10.0.0.0/8, true",
        "2001:db8::/32, 2001:db8:1::/48, true",
        "2001:db8::/32, 2001:db9::/32, false",
        "2001:db8::1:0/112, 2001:db8::2:0/112, false",
        "2001:db8::1:0/112, 2001:db8::1:7, true",
        "::/0, 2001:db8::/32, true",
        "::/0, 10.0.0.0/8, false"
    })
    void overlaps_range_ifOneLiesInTheOther(String one, String other, boolean overlap) {
        AddressRange range = AddressRange.parse(one);
        AddressRange another = AddressRange.parse(other);

        assertThat(range.overlaps(another)).isEqualTo(overlap);
        assertThat(another.overlaps(range)).isEqualTo(overlap);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96"})
    void isEverything_noBitIsShared(String text) {
        assertThat(AddressRange.parse(text).isEverything()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0/1", "::/1", "::/96", "0.0.0.0", "::"})
    void isEverything_someBitsAreShared_isFalse(String text) {
        assertThat(AddressRange.parse(text).isEverything()).isFalse();
    }
}
