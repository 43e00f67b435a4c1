package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletRequest;

class RuleKeyTest {

    private static final String ALPHABET = "ab01:9#{}u\u0000\n é\u0130\ud800\udc00";

    @Test
    @DisplayName("D5 different parts make different keys, whatever is in them, and none is longer than 64 bytes")
    void encode_randomParts_isInjectiveAndShort() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<String, List<String>> partsOf = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            List<String> parts = new ArrayList<>();
            for (int n = random.nextInt(3); n >= 0; n--) {
                parts.add(text(random));
            }
            KeyEncoder encoder = new KeyEncoder();
            parts.forEach(part -> encoder.append(part.isEmpty() ? 'a' : part.charAt(0) == 'u' ? 'u' : 'h', part));
            String key = encoder.toString();

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
        RuleKey key = RuleKey.parse(List.of("header:A", "header:B"));

        assertThat(of(key, "a", "b.c")).isNotEqualTo(of(key, "a.b", "c"));
        assertThat(of(key, "x1:y", "z")).isNotEqualTo(of(key, "x", "1:yh1:z"));
    }

    @Test
    void of_valueThatLooksLikeAnAddress_isNotThatAddress() {
        RuleKey key = RuleKey.parse(List.of("header:A"));

        assertThat(of(key, "127.0.0.1", "")).isNotEqualTo(key.of(new MockHttpServletRequest(), "GET /"));
    }

    @Test
    void of_namesThatLookEqual_areEqual() {
        RuleKey key = RuleKey.parse(List.of("header:A"));

        assertThat(of(key, " \uff35ser ", "")).isEqualTo(of(key, "User", ""));
        assertThat(of(key, "user", "")).isNotEqualTo(of(key, "User", ""));
    }

    @Test
    void of_longValue_isHashed() {
        RuleKey key = RuleKey.parse(List.of("header:A"));

        assertThat(of(key, "x".repeat(8_192), "").getBytes(StandardCharsets.UTF_8))
                .hasSizeLessThan(64);
        assertThat(of(key, "x".repeat(8_192), "")).isNotEqualTo(of(key, "x".repeat(8_193), ""));
    }

    private static String of(RuleKey key, String a, String b) {
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.addHeader("A", a);
        request.addHeader("B", b);
        return key.of(request, "GET /");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "usr", "header:", "header:a b", "header:\u0000", "header:é", "#user", "session", "User"})
    void parse_noPart_saysWhatThereIs(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RuleKey.parse(List.of(text)))
                .withMessageMatching("(?s).*(no part of a key; write user, principal, ip|names no header; write).*");
    }

    @Test
    void parse_partTwice_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RuleKey.parse(List.of("ip", " ip ")))
                .withMessage("'ip' stands twice; once is enough");
    }

    @Test
    void own_isWhetherCallersAreToldApart() {
        assertThat(RuleKey.parse(List.of("user", "endpoint")).own()).isTrue();
        assertThat(RuleKey.parse(List.of("endpoint", "method")).own()).isFalse();
        assertThat(RuleKey.parse(List.of()).own()).isFalse();
    }
}
