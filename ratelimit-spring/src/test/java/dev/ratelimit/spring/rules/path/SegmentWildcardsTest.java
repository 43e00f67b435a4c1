package dev.ratelimit.spring.rules.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import dev.ratelimit.spring.rules.text.CountedText;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

class SegmentWildcardsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/files/*-*.pdf | /files/{$2:(?s)(?>.*?\\-).*\\.pdf}",
                "/{a}-{b}-{c}/x | /{$1:(?s)(?>.*?\\-)(?>.*?\\-).*}/x",
                "/a*b?c*d/*_*   | /{$1:(?s)a(?>.*?b.c).*d}/{$2:(?s)(?>.*?\\_).*}",
            })
    void linear_severalWildcardsInASegment_areFoundOneAfterAnother(String pattern, String expected) {
        assertThat(SegmentWildcards.linear(pattern)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/**",
                "/files/*.pdf",
                "/*/*",
                "/{a}/{b}",
                "/a**b",
                "/{a}{b}",
                "/{a:x*}-*-*",
                "/{*rest}",
                "/a?b"
            })
    void linear_otherPatterns_areUnchanged(String pattern) {
        assertThat(SegmentWildcards.linear(pattern)).isEqualTo(pattern);
    }

    @Test
    void linear_anyPattern_matchesTheSamePaths() {
        long seed = Seeds.next();
        Random random = new Random(seed);
        int matching = 0;
        for (int i = 0; i < 20_000; i++) {
            String pattern = "/x/" + text(random, List.of("*", "*", "a", "-", ".", "?", "{v}"), 8);
            pattern = pattern.replace("*{v}", "*").replace("{v}{v}", "*").replaceFirst("\\{v}(?=.*\\{v})", "*");
            String path = "/x/" + text(random, List.of("a", "a", "-", ".", "A"), 10);
            boolean sensitive = random.nextBoolean();

            boolean matches = matches(pattern.replaceAll("\\{v}(?=.*\\{v})", "*"), path, sensitive);

            assertThat(matches(SegmentWildcards.linear(pattern), path, sensitive))
                    .as("pattern %s, path %s, seed %s", pattern, path, seed)
                    .isEqualTo(matches);
            matching += matches ? 1 : 0;
        }
        assertThat(matching).isBetween(1_000, 19_000);
    }

    private static String text(Random random, List<String> pieces, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 1 + random.nextInt(length); i > 0; i--) {
            text.append(pieces.get(random.nextInt(pieces.size())));
        }
        return text.toString();
    }

    private static boolean matches(String pattern, String path, boolean caseSensitive) {
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(caseSensitive);
        PathPattern parsed = parser.parse(pattern);
        return parsed.matches(PathContainer.parsePath(path));
    }

    @ParameterizedTest
    @CsvSource({"*-*-*-*.pdf, -", "{a}-{b}.pdf, -", "*aa*aa*b, a", "a*?*?*b, a", "*-*-*, a"})
    void linear_pathThatDoesNotMatch_isReadInAFewStepsPerCharacter(String segment, String repeated) {
        String pattern = SegmentWildcards.linear("/" + segment);
        Pattern expression = Pattern.compile(pattern.substring(pattern.indexOf(':') + 1, pattern.length() - 1));
        for (int length : new int[] {1 << 8, 1 << 12, 1 << 16}) {
            CountedText path = new CountedText(repeated.repeat(length) + "!", 12);

            assertThat(expression.matcher(path).matches()).isFalse();
        }
    }
}
