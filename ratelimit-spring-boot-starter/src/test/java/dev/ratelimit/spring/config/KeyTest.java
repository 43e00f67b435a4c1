package dev.ratelimit.spring.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.spring.AddressRange;
import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.ClientAddress;
import dev.ratelimit.spring.ForwardedHeader;
import dev.ratelimit.spring.KeyEncoder;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.MissingKey;
import dev.ratelimit.spring.RuleKey;
import jakarta.servlet.http.Cookie;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.http.server.PathContainer;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpSession;

/** Keys, from their notation to their bytes. */
class KeyTest {

    private static final String ALPHABET = "ab01:9#{}u\u0000\n é\u0130\ud800\udc00";

    private static KeyParser parser() {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("tenant", (KeyResolver) request -> request.getHeader("X-Tenant"));
        beans.registerSingleton("broken", (KeyResolver) request -> {
            throw new IllegalStateException("broken");
        });
        return new KeyParser(new Resolvers(beans));
    }

    private static RuleKey key(String... parts) {
        return parser().parse(List.of(parts), MissingKey.IP);
    }

    private static @Nullable String of(RuleKey key, MockHttpServletRequest request, boolean ignoreCase) {
        Call call = new Call(
                request,
                PathContainer.parsePath("/"),
                null,
                new ClientAddress(List.of(AddressRange.parse("192.0.2.1")), ForwardedHeader.ANY),
                () -> new KeyEncoder(ignoreCase, 32, 64));
        call.leadsTo("GET /orders/{id}", Map.of("id", "7"));
        return key.of(call);
    }

    private static @Nullable String of(RuleKey key, MockHttpServletRequest request) {
        return of(key, request, false);
    }

    private static @Nullable String of(RuleKey key, String a, String b) {
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.addHeader("A", a);
        request.addHeader("B", b);
        return of(key, request);
    }

    @Test
    @DisplayName("D5 different parts make different keys, whatever is in them, and none is longer than 64 bytes")
    void encode_randomParts_isInjectiveAndShort() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        RuleKey[] keys = {key("header:A"), key("header:A", "header:B"), key("header:B", "query:q", "header:A")};
        Map<String, List<String>> partsOf = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            int which = random.nextInt(keys.length);
            MockHttpServletRequest request = new MockHttpServletRequest();
            List<String> parts = new ArrayList<>(List.of(String.valueOf(which)));
            for (String header : which == 0 ? List.of("A") : List.of("A", "B")) {
                String value = "x" + text(random) + "x";
                request.addHeader(header, value);
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
        RuleKey key = key("header:A", "header:B");

        assertThat(of(key, "a", "b.c")).isNotEqualTo(of(key, "a.b", "c"));
        assertThat(of(key, "x1:y", "z")).isNotEqualTo(of(key, "x", "1:yh1:z"));
    }

    @Test
    void of_valueThatLooksLikeAnAddress_isNotThatAddress() {
        RuleKey key = key("header:A");

        assertThat(of(key, "127.0.0.1", "")).isNotEqualTo(of(key, new MockHttpServletRequest()));
        assertThat(of(key, new MockHttpServletRequest())).isEqualTo("a9:127.0.0.1");
    }

    @Test
    void of_namesThatLookEqual_areEqual() {
        RuleKey key = key("header:A");

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
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.setUserPrincipal(() -> name);
        return of(key("user"), request, true);
    }

    @Test
    @DisplayName("D7 a long value is hashed: a key of a megabyte takes 44 bytes")
    void of_longValue_isHashed() {
        RuleKey key = key("header:A");

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
                "principal   | u5:alice",
                "endpoint, method | e16:GET /orders/{id}m3:GET",
                "user, #request.getHeader('X-A') | u5:alicex2:va",
                "bean:broken | a11:203.0.113.9",
                "header:no   | a11:203.0.113.9",
                "path:no     | a11:203.0.113.9"
            })
    void of_eachPart_hasItsValue(String parts, String expected) {
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.setMethod("HEAD");
        request.setRemoteAddr("192.0.2.1");
        request.addHeader("X-Forwarded-For", "203.0.113.9");
        request.addHeader("X-A", "va");
        request.addHeader("X-Tenant", "vt");
        request.setCookies(new Cookie("c", "vc"));
        request.setQueryString("a=b&q=vq");
        request.setUserPrincipal(() -> "alice");
        request.setSession(new MockHttpSession(null, "ID"));

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
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.setQueryString(query);

        String expected = value == null ? "a9:127.0.0.1" : "q" + value.length() + ":" + value;
        assertThat(of(key("query:q"), request)).isEqualTo(expected);
    }

    @Test
    @DisplayName("C11 an identity that is sent twice is none; case and blanks do not make another")
    void of_identityTwice_isNone() {
        MockHttpServletRequest twice = new MockHttpServletRequest();
        twice.addHeader("X-Key", "a");
        twice.addHeader("x-key", "b");
        twice.setCookies(new Cookie("c", "1"), new Cookie("c", "2"));

        assertThat(of(key("header:X-Key"), twice)).isEqualTo("a9:127.0.0.1");
        assertThat(of(key("cookie:c"), twice)).isEqualTo("a9:127.0.0.1");
    }

    @Test
    @DisplayName("D10 a missing part is what missing-key says, and never a value that all share by accident")
    void of_missing_isWhatTheModeSays() {
        MockHttpServletRequest request = new MockHttpServletRequest();

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
                .withMessageMatching("(?s).*(no part of a key; write user, principal, ip|no header or cookie; write"
                        + "|has no name; write).*");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "#request.getHeader('X' | not an expression",
                "#user | there is no #user; there are #request, #principal and #ip",
                "#request.getHeadr('X') | HttpServletRequest has no method getHeadr of 1 arguments",
                "#request.getHeader() | HttpServletRequest has no method getHeader of 0 arguments",
                "#request.hedaer | HttpServletRequest has no property hedaer",
                "bean:nobody | there is no bean 'nobody' of type KeyResolver; there is [tenant, broken]"
            })
    @DisplayName("F16 an expression that cannot work is told with the place")
    void parse_expressionThatCannotWork_saysWhy(String text, String message) {
        assertThatIllegalArgumentException().isThrownBy(() -> key(text)).withMessageContaining(message);
    }

    @Test
    void parse_partTwice_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key("header:X-A", " header:x-a "))
                .withMessage("'header:x-a' stands twice; once is enough");
    }

    @Test
    void expressions_reachNothingButTheRequest() {
        MockHttpServletRequest request = new MockHttpServletRequest();

        for (String text : List.of("#this.class", "#ip.concat(T(java.lang.Runtime).runtime)", "#ip.concat(@bean)")) {
            assertThat(of(key(text), request)).as(text).isEqualTo("a9:127.0.0.1");
        }
        assertThatIllegalArgumentException().isThrownBy(() -> key("#request.getClass()"));
    }

    @Test
    void isOwn_isWhetherTheBudgetIsTheCallers() {
        MockHttpServletRequest anonymous = new MockHttpServletRequest();
        MockHttpServletRequest known = new MockHttpServletRequest();
        known.setUserPrincipal(() -> "alice");

        assertThat(isOwn(key("user", "endpoint"), anonymous)).isTrue();
        assertThat(isOwn(key("ip", "query:user"), anonymous)).isTrue();
        assertThat(isOwn(key("endpoint", "method"), known)).isFalse();
        assertThat(isOwn(key("query:user"), known)).isFalse();
        assertThat(isOwn(key("#request.getParameter('user')"), anonymous)).isFalse();
        assertThat(isOwn(key("#request.getHeader('X-Tenant')"), known)).isTrue();
        assertThat(isOwn(RuleKey.SHARED, known)).isFalse();
    }

    private static boolean isOwn(RuleKey key, MockHttpServletRequest request) {
        return key.isOwn(new Call(
                request,
                PathContainer.parsePath("/"),
                null,
                new ClientAddress(List.of(), ForwardedHeader.ANY),
                () -> new KeyEncoder(false, 32, 64)));
    }
}
