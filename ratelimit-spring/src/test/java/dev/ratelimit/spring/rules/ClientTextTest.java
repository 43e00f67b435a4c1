package dev.ratelimit.spring.rules;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The places that read texts of clients, each of which reads a character a few times at most, whatever the text. What the
 * JDK and Spring read instead is bounded before: names and values by {@code NormalTextTest}, numbers by
 * {@code NumberTextTest}, paths by {@code SegmentWildcardsTest}. Stores, reports and meters get keys of 64 bytes.
 */
class ClientTextTest {

    private static final int TIMES = 8;

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

    private static final List<String> QUERIES =
            List.of("&", "=", "q", "q&", "%", "%7", "%71", "%71=", "+", "%zz&", "%71=1&", "q=1&", "=&", "%2571=%26&");

    static Stream<Arguments> places() {
        return Stream.of(
                arguments("an address", ADDRESSES, reading(text -> new IpAddress().read(text, 0, text.length()))),
                arguments("X-Forwarded-For", ADDRESSES, reading(text -> find(List.of(text), false))),
                arguments("X-Forwarded-For, in two lines", ADDRESSES, reading(text -> find(List.of("", text), false))),
                arguments("Forwarded", LINES, reading(text -> find(List.of(text), true))),
                arguments(
                        "Forwarded, before an address",
                        LINES,
                        reading(text -> find(List.of(text, "for=10.0.0.1"), true))),
                arguments("the query", QUERIES, reading(text -> QueryString.only(text, "q"))),
                arguments("the hash of a key", List.of("x", "\u4e00"), reading(KeyEncoder::digest)));
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
        for (String first : pieces) {
            for (String second : pieces) {
                for (int length : new int[] {1 << 6, 1 << 14}) {
                    String half = first.repeat(length / first.length());
                    String other = second.repeat(length / second.length());

                    assertThatCode(() -> {
                                reading.accept(new CountedText(half + other, TIMES));
                                reading.accept(new CountedText(half + "x" + other + "x", TIMES));
                            })
                            .as("%s: many '%s', many '%s'", place, first, second)
                            .doesNotThrowAnyException();
                }
            }
        }
    }
}
