package dev.ratelimit.spring.rules.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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

    private static List<String> everything(String ranges) {
        return AddressRange.everything(
                        Stream.of(ranges.split(", ")).map(AddressRange::parse).toList())
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0.0.0.0/0 | 0.0.0.0/0 is every address",
                "::/0 | ::/0 is every address",
                "::ffff:0.0.0.0/96 | 0.0.0.0/0 is every address",
                "10.0.0.0/8, 0.0.0.0/0 | 0.0.0.0/0 is every address",
                "0.0.0.0/1, 128.0.0.0/1 | 0.0.0.0/1, 128.0.0.0/1 together are every address",
                "192.0.0.0/2, 10.0.0.1, 0.0.0.0/1, ::1, 128.0.0.0/2 | 0.0.0.0/1, 128.0.0.0/2, 192.0.0.0/2 together are every address",
                "::/1, 8000::/1 | 0::/1, 8000::/1 together are every address",
                "::ffff:0.0.0.0/97, 128.0.0.0/1 | 0.0.0.0/1, 128.0.0.0/1 together are every address"
            })
    void everything_noAddressIsMissing_namesTheNetworks(String ranges, String described) {
        assertThat(everything(ranges)).containsExactly(described);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "::",
                "0.0.0.0/1",
                "::/1",
                "::/96",
                "0.0.0.0/1, 0.0.0.0/1",
                "0.0.0.0/1, 8000::/1",
                "0.0.0.0/1, 128.0.0.0/2",
                "::ffff:0:0/95, 8000::/1"
            })
    void everything_anAddressIsMissing_isNothing(String ranges) {
        assertThat(everything(ranges)).isEmpty();
    }

    @Test
    void everything_bothFamilies_areBoth() {
        assertThat(everything("::/0, 0.0.0.0/0"))
                .containsExactly("0.0.0.0/0 is every address", "::/0 is every address");
    }

    /** Networks that contain every address but one: 128.0.0.0/1, 64.0.0.0/2 and so on, down to 0.0.0.1. */
    private static String allButZero(int width, IntFunction<String> network) {
        return IntStream.rangeClosed(1, width).mapToObj(network).collect(Collectors.joining(", "));
    }

    @Test
    void everything_oneAddressIsMissing_isNothingUntilItIsThere() {
        String v4 = allButZero(32, bits -> IpAddress.of(0, 0xffffL << 32 | 1L << (32 - bits)) + "/" + bits);
        String v6 = allButZero(
                128,
                bits -> (bits <= 64 ? IpAddress.of(1L << (64 - bits), 0) : IpAddress.of(0, 1L << (128 - bits))) + "/"
                        + bits);

        assertThat(everything(v4)).isEmpty();
        assertThat(everything(v4 + ", 0.0.0.0"))
                .containsExactly("0.0.0.0, 0.0.0.1, 0.0.0.2/31, 0.0.0.4/30 and 29 more together are every address");
        assertThat(everything(v6)).isEmpty();
        assertThat(everything(v6 + ", ::")).hasSize(1);
    }

    @Test
    void everything_ipv6WithoutMappedAddresses_isComplete() {
        String beside = IntStream.rangeClosed(1, 80)
                .mapToObj(
                        bits -> (bits <= 64 ? IpAddress.of(1L << (64 - bits), 0) : IpAddress.of(0, 1L << (128 - bits)))
                                + "/" + bits)
                .collect(Collectors.joining(", "));
        String within = IntStream.rangeClosed(81, 96)
                .mapToObj(bits -> IpAddress.of(0, 0xffffL << 32 & IpAddress.mask(bits - 65)) + "/" + bits)
                .collect(Collectors.joining(", "));

        assertThat(everything(beside + ", " + within)).hasSize(1);
        assertThat(everything(beside)).isEmpty();
    }

    @Test
    void everything_thousandsOfNetworks_areAskedTogether() {
        List<AddressRange> all = IntStream.range(0, 1 << 14)
                .mapToObj(i -> new AddressRange(0, 0xffffL << 32 | (long) i << 18, 110, true))
                .toList();

        assertThat(AddressRange.everything(all)).hasSize(1);
        assertThat(AddressRange.everything(all.subList(1, all.size()))).isEmpty();
    }
}
