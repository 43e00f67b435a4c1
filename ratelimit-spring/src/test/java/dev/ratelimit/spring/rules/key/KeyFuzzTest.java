package dev.ratelimit.spring.rules.key;

import static dev.ratelimit.Fuzz.refusing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.ratelimit.Fuzz;
import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/** Keys as people configure them and as clients send them. */
class KeyFuzzTest {

    private static final Pattern INVISIBLE_ENDS = Pattern.compile(
            "^[\\x00-\\x20\\p{IsCc}\\p{IsCf}\\p{javaWhitespace}]+|[\\x00-\\x20\\p{IsCc}\\p{IsCf}\\p{javaWhitespace}]+$");

    private static final Pattern TOO_MANY_MARKS = Pattern.compile("\\p{M}{31,}");

    private final Fuzz keys = Fuzz.of(KeyFuzzTest.class, "keys.txt");
    private final Fuzz values = Fuzz.of(KeyFuzzTest.class, "values.txt");
    private final Fuzz queries = Fuzz.of(KeyFuzzTest.class, "queries.txt");

    private final KeyParser parser = parser();

    private static KeyParser parser() {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerSingleton("tenant", (KeyResolver) request -> request.header("X-Tenant"));
        return new KeyParser(new Resolvers(beans));
    }

    private BudgetKey key(String... parts) {
        return parser.parse(List.of(parts), MissingKey.IP);
    }

    private static RecordedRequest request(String a, String b) {
        return new RecordedRequest().with("A", a).with("B", b);
    }

    private static String encode(BudgetKey key, RecordedRequest request, boolean ignoreCase) {
        String encoded = String.valueOf(key.of(RecordedRequest.context(request, ignoreCase)));
        assertThat(bytes(encoded)).isLessThanOrEqualTo(64);
        return encoded;
    }

    /** The memory size of a string. */
    private static int bytes(String text) {
        return text.chars().allMatch(c -> c < 256) ? text.length() : 2 * text.length();
    }

    @Test
    void parse_anyNotation_isReadBackAndEvaluatedOrIsRefused() {
        keys.run(refusing(text -> {
            BudgetKey key = key(text);
            String[] parts = key.parts().stream().map(Object::toString).toArray(String[]::new);

            // the texts in an expression are hidden, because they may be secrets
            if (String.join("", parts).indexOf('…') < 0) {
                assertThat(key(parts)).isEqualTo(key);
            }
            assertThat(key(text)).isEqualTo(key);
            assertThat(encode(key, request(text, text), false)).isNotNull();
        }));
    }

    /** The normalized value that the documentation describes. */
    private static String identity(String value, boolean ignoreCase) {
        String decomposed = Normalizer.normalize(value, Normalizer.Form.NFKD);
        String letters = ignoreCase ? withoutCase(decomposed) : decomposed;
        String visible = INVISIBLE_ENDS
                .matcher(TOO_MANY_MARKS.matcher(letters).replaceAll(""))
                .replaceAll("");
        return Normalizer.normalize(visible, Normalizer.Form.NFKC);
    }

    private static String withoutCase(String text) {
        String small = text.toLowerCase(Locale.ROOT).toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
        String undotted = small;
        do {
            small = undotted;
            undotted = small.replaceAll("(i\\p{M}*?)\u0307", "$1");
        } while (!undotted.equals(small));
        // a capital sigma is a final one only at the end of a word
        return undotted.replace('\u03c2', '\u03c3');
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void encode_anyValues_areEqualIfAndOnlyIfTheirIdentitiesAre(boolean ignoreCase) {
        BudgetKey key = key("header:A", "header:B");
        Map<String, List<String>> identitiesOf = new HashMap<>();
        Map<List<String>, String> keysOf = new HashMap<>();
        values.run(text -> {
            int middle = text.length() / 2;
            String a = text.substring(0, middle);
            String b = text.substring(middle);
            List<String> identities = List.of(identity(a, ignoreCase), identity(b, ignoreCase));

            String encoded = encode(key, request(a, b), ignoreCase);

            assertThat(identitiesOf.computeIfAbsent(encoded, k -> identities)).isEqualTo(identities);
            assertThat(keysOf.computeIfAbsent(identities, i -> encoded)).isEqualTo(encoded);
        });
    }

    @Test
    void only_anyQuery_isTheValueOfTheOnlyParameterOfThatName() {
        queries.run(query -> assertThat(QueryString.only(query, "q")).isEqualTo(only(query, "q")));
    }

    private static @Nullable String only(String query, String name) {
        List<String[]> named = Arrays.stream(query.split("&", -1))
                .map(pair -> pair.split("=", 2))
                .filter(pair -> decode(pair[0]).equals(name))
                .toList();
        if (named.size() != 1) {
            return null;
        }
        String[] pair = named.get(0);
        return pair.length == 1 ? "" : decode(pair[1]);
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException broken) {
            return text;
        }
    }

    @Test
    @Tag("large")
    void encode_largeValue_takesAStepPerCharacter() {
        BudgetKey key = key("header:A");

        values.runLarge(128, "", text -> encode(key, request(text, ""), true));
        queries.runLarge(1024, "&", text -> QueryString.only(text, "q"));
    }

    @ParameterizedTest
    @Tag("large")
    @ValueSource(strings = {"\u00df", "\u0130", "\ufb03", "\u0149"})
    void encode_largeValueOfLettersThatBecomeSeveral_takesAStepPerCharacter(String letter) {
        RecordedRequest request = request(letter.repeat(1 << 20), "");

        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> encode(key("header:A"), request, true));
    }

    @Test
    @Tag("large")
    void parse_largeNotation_takesAStepPerCharacter() {
        keys.runLarge(256, "", refusing(this::key));
        keys.runLarge(256, ",", refusing(this::key));
    }
}
