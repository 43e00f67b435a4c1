package dev.ratelimit.spring.rules.address;

import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.spring.rules.text.CountedText;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each place that reads addresses of clients reads a character a few times at most, whatever the text. */
class ClientAddressTextTest {

    private static final ClientAddress BEHIND_PROXIES =
            new ClientAddress(List.of(AddressRange.parse("10.0.0.0/8")), ForwardedHeader.ANY);

    private static final List<String> ADDRESSES =
            List.of("0", "a", ":", "::", "1:", "1.", ".", "[", "]", "%", "/", "::1%", " ", "10.0.0.1,", "10.0.0.1 , ");

    private static final List<String> LINES = List.of(
            ",",
            ";",
            "=",
            "\"",
            "\\",
            "\\\"",
            "\"\\",
            "\",\"",
            " ",
            "for=",
            "for",
            "a=b;",
            "a;",
            "a=\"b\";",
            "a=\"b\" ;",
            "a=\"\\\"\";",
            "a=\",\",",
            "for=10.0.0.1,",
            "for=\"10.0.0.1\",",
            "for=\"[::1]\";",
            "\";for=10.0.0.1,");

    static Stream<Arguments> places() {
        return Stream.of(
                arguments("an address", ADDRESSES, reading(text -> new IpAddress().read(text, 0, text.length()))),
                arguments("X-Forwarded-For", ADDRESSES, reading(text -> find(List.of(text), false))),
                arguments("X-Forwarded-For, in two lines", ADDRESSES, reading(text -> find(List.of("", text), false))),
                arguments("Forwarded", LINES, reading(text -> find(List.of(text), true))),
                arguments(
                        "Forwarded, before an address",
                        LINES,
                        reading(text -> find(List.of(text, "for=10.0.0.1"), true))));
    }

    private static Consumer<CharSequence> reading(Consumer<CharSequence> place) {
        return place;
    }

    private static void find(List<CharSequence> lines, boolean pairs) {
        BEHIND_PROXIES.findInLines(lines, pairs, new IpAddress());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("places")
    void everyPlace_readsACharacterAFewTimes(String place, List<String> pieces, Consumer<CharSequence> reading) {
        CountedText.checkReads(pieces, reading);
    }
}
