package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ratelimit.Seeds;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyNamesTest {

    private static final String POLICY = "{}:%~7bd/.-_ ";
    private static final String KEY = "{}:%~ab\u00e9\ud800\udc00/.-_ \u0000";

    private final KeyNames names = new KeyNames("ratelimit");

    private static String text(Random random, String of) {
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(5);
        for (int i = 0; i < length; i++) {
            text.append(of.charAt(random.nextInt(of.length())));
        }
        return text.toString();
    }

    @Test
    @DisplayName("D5: different policies and keys have different names, whose hash tag is a digest of the key")
    void name_anyPolicyAndKey_isInjectiveAndTagIsOurs() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        Map<String, List<String>> seen = new HashMap<>();

        for (int i = 0; i < 20_000; i++) {
            List<String> input = List.of(text(random, POLICY), text(random, KEY));
            String name = names.name(input.get(0), input.get(1));

            List<String> other = seen.put(name, input);
            assertThat(other == null || other.equals(input))
                    .as("%s and %s, seed %s", input, other, seed)
                    .isTrue();
            assertThat(name).as("seed %s", seed).matches("ratelimit:[A-Za-z0-9._%~-]*:\\{[A-Za-z0-9_-]{22}}:");
        }
    }

    @Test
    @DisplayName("D5: the limits of all policies of one key are in one slot, those of others are not")
    void name_sameKey_isInOneSlotWhateverThePolicy() {
        int slot = SlotHash.getSlot(names.name("a", "{x}") + 0);

        assertThat(SlotHash.getSlot(names.name("{y}b{", "{x}") + 1)).isEqualTo(slot);
        assertThat(SlotHash.getSlot(names.name("", "{x}") + 0)).isEqualTo(slot);
        assertThat(SlotHash.getSlot(names.name("a", "x") + 0)).isNotEqualTo(slot);
    }

    @Test
    @DisplayName("D7: at most 128 bytes for any key")
    void name_longestOfAll_isAtMost128Bytes() {
        KeyNames longest = new KeyNames("p".repeat(32));

        for (String policy :
                List.of("p".repeat(100), "{".repeat(100), "p".repeat(60), "p".repeat(61), "{".repeat(20))) {
            String name = longest.name(policy, "k".repeat(1 << 20)) + 9999;
            assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(128);
        }
    }

    @Test
    void name_longPolicies_differWhereTheyDiffer() {
        String begin = "p".repeat(99);

        assertThat(names.name(begin + "a", "k")).isNotEqualTo(names.name(begin + "b", "k"));
        assertThat(names.name("%7b", "k")).isNotEqualTo(names.name("{", "k"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{a}", "a b", "\u00e9", "012345678901234567890123456789012"})
    void prefix_notPlain_isRejected(String prefix) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new KeyNames(prefix))
                .withMessageStartingWith("key prefix must be 1 to 32 letters")
                .withMessageEndingWith("but was '" + prefix + "'");
    }

    @Test
    void name_plainPolicy_isAsItIsUpTo60Characters() {
        assertThat(names.name("Az09.-_", "k")).isEqualTo("ratelimit:Az09.-_:{9twQNLCT3XnRuW8yjLHkiQ}:");
        assertThat(names.name("p".repeat(60), "k")).startsWith("ratelimit:" + "p".repeat(60) + ":{");
        assertThat(names.name("p".repeat(61), "k"))
                .startsWith("ratelimit:" + "p".repeat(37) + "~")
                .hasSize("ratelimit:".length() + 60 + ":{}:".length() + 22);
    }

    @Test
    void name_askedAgain_isTheSameObject_unlessTheKeyIsLong() {
        assertThat(names.name("p", "k")).isSameAs(names.name("p", "k"));
        assertThat(names.name("p", "k".repeat(256))).isSameAs(names.name("p", "k".repeat(256)));
        assertThat(names.name("p", "k".repeat(257)))
                .isEqualTo(names.name("p", "k".repeat(257)))
                .isNotSameAs(names.name("p", "k".repeat(257)));
    }
}
