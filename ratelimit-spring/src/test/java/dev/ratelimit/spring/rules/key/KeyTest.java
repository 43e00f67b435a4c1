package dev.ratelimit.spring.rules.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.math.BigDecimal;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Keys, from their notation to their bytes. */
@ExtendWith(OutputCaptureExtension.class)
class KeyTest {

    private static final String ALPHABET = "ab01:9#{}u\u0000\n é\u0130\ud800\udc00";

    private static KeyParser parser() {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("tenant", (KeyResolver) request -> request.header("X-Tenant"));
        beans.registerSingleton("broken", (KeyResolver) request -> {
            throw new IllegalStateException("broken");
        });
        return new KeyParser(new Resolvers(beans));
    }

    private static BudgetKey key(String... parts) {
        return parser().parse(List.of(parts), MissingKey.IP);
    }

    private static @Nullable String of(BudgetKey key, RecordedRequest request, boolean ignoreCase) {
        return key.of(RecordedRequest.context(request, ignoreCase, "192.0.2.1"));
    }

    private static @Nullable String of(BudgetKey key, RecordedRequest request) {
        return of(key, request, false);
    }

    private static @Nullable String of(BudgetKey key, String a, String b) {
        return of(key, new RecordedRequest().with("A", a).with("B", b));
    }

    @Test
    @DisplayName("D5 different parts make different keys, whatever their content, and no key is longer than 64 bytes")
    void encode_randomParts_isInjectiveAndShort() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        BudgetKey[] keys = {key("header:A"), key("header:A", "header:B"), key("header:B", "query:q", "header:A")};
        Map<String, List<String>> partsOf = new HashMap<>();
        for (int i = 0; i < (Boolean.getBoolean("nightly") ? 200_000 : 20_000); i++) {
            int which = random.nextInt(keys.length);
            RecordedRequest request = new RecordedRequest();
            List<String> parts = new ArrayList<>(List.of(String.valueOf(which)));
            for (String header : which == 0 ? List.of("A") : List.of("A", "B")) {
                String value = "x" + text(random) + "x";
                request.with(header, value);
                parts.add(Normalizer.normalize(value, Normalizer.Form.NFKC));
            }
            if (which == 1) {
                parts.set(0, "1"); // A and B
            }
            String key = String.valueOf(of(keys[which], request));

            assertThat(partsOf.getOrDefault(key, parts))
                    .as("seed %s, key %s", seed, key)
                    .isEqualTo(parts);
            partsOf.put(key, parts);
            boolean latin1 = key.chars().allMatch(c -> c < 256);
            assertThat(latin1 ? key.length() : 2 * key.length()).isLessThanOrEqualTo(64);
        }
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(10) == 0 ? 60 : random.nextInt(5); length > 0; length--) {
            text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return text.toString();
    }

    @Test
    void of_delimitersInAValue_doNotBuildAnotherKey() {
        BudgetKey key = key("header:A", "header:B");

        assertThat(of(key, "a", "b.c")).isNotEqualTo(of(key, "a.b", "c"));
        assertThat(of(key, "x1:y", "z")).isNotEqualTo(of(key, "x", "1:yh1:z"));
    }

    @Test
    void of_valueThatLooksLikeAnAddress_isNotThatAddress() {
        BudgetKey key = key("header:A");

        assertThat(of(key, "127.0.0.1", "")).isNotEqualTo(of(key, new RecordedRequest()));
        assertThat(of(key, new RecordedRequest())).isEqualTo("a9:127.0.0.1");
    }

    @Test
    void of_namesThatLookEqual_areEqual() {
        BudgetKey key = key("header:A");

        assertThat(of(key, " \uff35ser ", "")).isEqualTo(of(key, "User", ""));
        assertThat(of(key, "user", "")).isNotEqualTo(of(key, "User", ""));
    }

    @Test
    @DisplayName("C12 spellings of one name are one key, whatever the default locale")
    void of_namesInAnySpelling_ignoringCase_areOne() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("tr"));
            for (List<String> names : List.of(
                    List.of("User", " user ", "\uff35\uff33\uff25\uff32", "user\u0000", "\u200buser"),
                    List.of("title", "TITLE", "T\u0130TLE", "t\u0131tle", "Title"))) {
                assertThat(names.stream().map(name -> ofIgnoringCase(name)).distinct())
                        .hasSize(1);
            }
        } finally {
            Locale.setDefault(before);
        }
    }

    private static @Nullable String ofIgnoringCase(String name) {
        return of(key("user"), new RecordedRequest().by(name), true);
    }

    @Test
    @DisplayName("D7 long values are hashed: a value of a megabyte makes a key of 44 bytes")
    void of_longValue_isHashed() {
        BudgetKey key = key("header:A");

        assertThat(String.valueOf(of(key, "x".repeat(1 << 20), "")).getBytes(StandardCharsets.UTF_8))
                .hasSize(44);
        assertThat(of(key, "x".repeat(1 << 20), "")).isNotEqualTo(of(key, "x".repeat((1 << 20) + 1), ""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "header:X-A  | h2:va",
                "cookie:c    | c2:vc",
                "query:q     | q2:vq",
                "path:id     | p1:7",
                "session     | s2:ID",
                "bean:tenant | b2:vt",
                "#request.getHeader('X-A').concat(',x') | x4:va,x",
                "#principal.name | x5:alice",
                "#ip         | x11:203.0.113.9",
                "ip          | a11:203.0.113.9",
                "method, ip  | m3:GETa11:203.0.113.9",
                "principal   | u5:alice",
                "route, method | r3:onem3:GET",
                "endpoint, method | e16:GET /orders/{id}m3:GET",
                "user, #request.getHeader('X-A') | u5:alicex2:va",
                "bean:broken | a11:203.0.113.9",
                "header:no   | a11:203.0.113.9",
                "path:no     | a11:203.0.113.9"
            })
    void of_eachPart_hasItsValue(String parts, String expected) {
        RecordedRequest request = new RecordedRequest("HEAD", "/orders/7")
                .from("192.0.2.1")
                .with("X-Forwarded-For", "203.0.113.9")
                .with("X-A", "va")
                .with("X-Tenant", "vt")
                .withCookie("c", "vc")
                .withQuery("a=b&q=vq")
                .by("alice")
                .onRoute("one")
                .inSession("ID");

        String key = String.valueOf(of(key(parts.split(",(?! ?x|')")), request));

        assertThat(key).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {
                "q=1, 1",
                "a=b&q=1, 1",
                "q, none",
                "q=, none",
                "q=1&q=1, none",
                "%71=1&q=2, none",
                "%71=1, 1",
                "q=%31+x, 1 x",
                "q=%zz, %zz",
                "qq=1, none",
                "Q=1, none",
                "'', none",
                "none, none"
            })
    void of_query_isWhatTheApplicationReads_orNothing(@Nullable String query, @Nullable String value) {
        RecordedRequest request = new RecordedRequest().withQuery(query);

        String expected = value == null ? "a9:127.0.0.1" : "q" + value.length() + ":" + value;
        assertThat(of(key("query:q"), request)).isEqualTo(expected);
    }

    @Test
    @DisplayName("C11 an identity that is sent twice counts as missing; case and blanks do not change it")
    void of_identityTwice_isNone() {
        RecordedRequest twice = new RecordedRequest()
                .with("X-Key", "a")
                .with("x-key", "b")
                .withCookie("c", "1")
                .withCookie("c", "2");

        assertThat(of(key("header:X-Key"), twice)).isEqualTo("a9:127.0.0.1");
        assertThat(of(key("cookie:c"), twice)).isEqualTo("a9:127.0.0.1");
    }

    @Test
    void of_identityThatIsHidden_isChargedToTheAddress_alsoWhereMissingOnesAreSkipped() {
        BudgetKey header = parser().parse(List.of("header:X-Key"), MissingKey.SKIP);
        BudgetKey cookie = parser().parse(List.of("cookie:c"), MissingKey.SKIP);
        BudgetKey query = parser().parse(List.of("query:q"), MissingKey.SKIP);
        BudgetKey fromHeader = parser().parse(List.of("#request.getHeader('X-Key')"), MissingKey.SKIP);
        BudgetKey parameter = parser().parse(List.of("#request.getParameter('q')"), MissingKey.SKIP);
        String address = "a9:127.0.0.1";

        assertThat(of(fromHeader, new RecordedRequest().with("X-Key", "").with("X-Key", "a")))
                .isEqualTo(address);
        assertThat(of(fromHeader, new RecordedRequest().with("X-Key", "\u00ad")))
                .isEqualTo(address);
        assertThat(of(fromHeader, new RecordedRequest())).isNull();
        assertThat(of(parameter, new RecordedRequest().withQuery("q=&q=a"))).isEqualTo(address);
        assertThat(of(parameter, new RecordedRequest().withQuery("q=%00"))).isEqualTo(address);
        assertThat(of(parameter, new RecordedRequest().withQuery("q="))).isNull();
        assertThat(of(header, new RecordedRequest().with("X-Key", "a").with("x-key", "b")))
                .isEqualTo(address);
        assertThat(of(header, new RecordedRequest().with("X-Key", "a").with("X-Key", "")))
                .isEqualTo(address);
        assertThat(of(header, new RecordedRequest().with("X-Key", "\u200b"))).isEqualTo(address);
        assertThat(of(cookie, new RecordedRequest().withCookie("c", "1").withCookie("c", "2")))
                .isEqualTo(address);
        assertThat(of(query, new RecordedRequest().withQuery("q=a&q="))).isEqualTo(address);
        assertThat(of(query, new RecordedRequest().withQuery("q=%00"))).isEqualTo(address);
        assertThat(of(header, new RecordedRequest().with("X-Key", " "))).isNull();
        assertThat(of(cookie, new RecordedRequest().withCookie("c", ""))).isNull();
        assertThat(of(query, new RecordedRequest().withQuery("q"))).isNull();
    }

    @Test
    @DisplayName("D10 a missing part is handled as missing-key says, and never becomes a shared value by accident")
    void of_missing_isWhatTheModeSays() {
        RecordedRequest request = new RecordedRequest();

        for (String part : List.of("principal", "header:A", "cookie:a", "query:a", "path:a", "session", "#principal")) {
            assertThat(of(parser().parse(List.of(part), MissingKey.IP), request))
                    .isEqualTo("a9:127.0.0.1");
            assertThat(of(parser().parse(List.of(part), MissingKey.SHARED), request))
                    .isEqualTo("-0:");
            assertThat(of(parser().parse(List.of(part), MissingKey.SKIP), request))
                    .isNull();
            assertThat(of(parser().parse(List.of(part), MissingKey.REJECT), request))
                    .isNull();
        }
        assertThat(of(parser().parse(List.of("user"), MissingKey.REJECT), request))
                .isEqualTo("a9:127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "usr",
                "header:",
                "header:a b",
                "header:\u0000",
                "header:é",
                "cookie:",
                "bean:",
                "User",
                "x:y"
            })
    void parse_noPart_saysWhatThereIs(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key(text))
                .withMessageMatching(
                        "(?s).*(unknown key part '.*'( .did you mean 'user'..)?; write user, principal, ip|not a valid name of a header or cookie; write"
                                + "|has no name; write).*");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "#request.getHeader('X' | not an expression",
                "#ip == 2e | not an expression: it ends too early",
                "#user | there is no #user; use #request, #principal or #ip",
                "#request.getHeadr('X') | #request has no method getHeadr with 1 argument; did you mean getHeader?",
                "#request.getHeader() | #request has no method getHeader with 0 arguments",
                "#request.hedaer | #request has no property hedaer",
                "bean:nobody | there is no bean 'nobody' of type KeyResolver; write tenant or broken"
            })
    @DisplayName("F16 an invalid expression is reported with the position")
    void parse_expressionThatCannotWork_saysWhy(String text, String message) {
        assertThatIllegalArgumentException().isThrownBy(() -> key(text)).withMessageContaining(message);
    }

    enum Color {
        RED {
            @Override
            public String toString() {
                return "a red of " + System.identityHashCode(this);
            }
        }
    }

    /** As in Spring Security, where its text differs from login to login. */
    private static Principal alice() {
        return new Principal() {
            @Override
            public String getName() {
                return "alice";
            }

            @Override
            public String toString() {
                return "alice, logged in at " + System.nanoTime();
            }
        };
    }

    static Stream<Arguments> values() {
        return Stream.of(
                arguments("acme", "acme"),
                arguments(CharBuffer.wrap("acme"), "acme"),
                arguments(7L, "7"),
                arguments(7.0, "7"),
                arguments(new BigDecimal("70e-1"), "7"),
                arguments(Optional.of(7), "7"),
                arguments(true, "true"),
                arguments('c', "c"),
                arguments(Color.RED, "RED"),
                arguments(new UUID(1, 2), "00000000-0000-0001-0000-000000000002"),
                arguments(alice(), "alice"));
    }

    @ParameterizedTest
    @MethodSource("values")
    void expression_ofSomethingWithAText_isThatText(Object value, String text) {
        RecordedRequest request = new RecordedRequest().withAttribute("value", value);
        RecordedRequest same = new RecordedRequest().withAttribute("value", text);
        BudgetKey key = key("#request.getAttribute('value')");

        assertThat(of(key, request)).isEqualTo(of(key, same)).isNotEqualTo(of(key, new RecordedRequest()));
    }

    @Test
    void expression_ofSomethingElse_isMissing_andLoggedOnce(CapturedOutput output) {
        BudgetKey key = key("#request.getAttribute('value')");
        String missing = of(key, new RecordedRequest());

        for (Object value : List.of(new String[] {"a"}, List.of("a"), Map.of("a", "b"), new Object())) {
            RecordedRequest request = new RecordedRequest().withAttribute("value", value);

            assertThat(of(key, request)).isEqualTo(missing);
        }

        assertThat(output)
                .containsOnlyOnce(
                        "#request.getAttribute('value') returned a value of type java.lang.String[], which counts"
                                + " as a failure; it must return a text, a number")
                .containsOnlyOnce("WARN");
    }

    @Test
    void parse_partTwice_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key("header:X-A", " header:x-a "))
                .withMessage("'header:x-a' is written twice; write it once");
    }

    @Test
    void expressions_reachNothingButTheRequest() {
        RecordedRequest request = new RecordedRequest();

        for (String text : List.of(
                "#ip.concat(#this.class)",
                "#ip.toCharArray().![T(java.lang.Integer).toString(7)][0]",
                "#ip.toCharArray().![@bean.name][0]")) {
            assertThat(of(key(text), request)).as(text).isEqualTo("a9:127.0.0.1");
        }
        for (String text : List.of(
                "#request.getClass()",
                "#ip.concat(T(java.lang.Runtime).runtime)",
                "#ip.concat(@bean)",
                "#ip.concat(x)")) {
            assertThatIllegalArgumentException().as(text).isThrownBy(() -> key(text));
        }
    }

    @Test
    void identifiesCaller_isWhetherTheBudgetIsTheCallers() {
        RecordedRequest anonymous = new RecordedRequest();
        RecordedRequest known = new RecordedRequest().by("alice");

        assertThat(identifiesCaller(key("user", "endpoint"), anonymous)).isTrue();
        assertThat(identifiesCaller(key("ip", "query:user"), anonymous)).isTrue();
        assertThat(identifiesCaller(key("endpoint", "method"), known)).isFalse();
        assertThat(identifiesCaller(key("query:user"), known)).isFalse();
        assertThat(identifiesCaller(key("#request.getParameter('user')"), anonymous))
                .isFalse();
        assertThat(identifiesCaller(key("#request.getHeader('X-Tenant')"), known))
                .isTrue();
        assertThat(identifiesCaller(BudgetKey.SHARED, known)).isFalse();
    }

    private static boolean identifiesCaller(BudgetKey key, RecordedRequest request) {
        return key.identifiesCaller(RecordedRequest.context(request, false));
    }
}
