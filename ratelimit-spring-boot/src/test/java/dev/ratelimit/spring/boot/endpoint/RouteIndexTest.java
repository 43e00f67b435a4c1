package dev.ratelimit.spring.boot.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

class RouteIndexTest {

    private static final String[] PATTERN_PARTS = {
        "a",
        "b",
        "A",
        "i",
        "{x}",
        "*",
        "a*",
        "?",
        "{x:[a-c]+}",
        "a{x}b",
        ".",
        "a.b",
        "a b",
        "ß",
        "s",
        "k",
        "\ud801\udc00",
        "{x:[^a-z]+}",
        "*a",
        "**.txt",
        "*-*",
        "a*b*",
        "{x}-*A",
        ""
    };
    private static final String[] PATH_PARTS = {
        "a", "b", "A", "B", "ab", "abc", "%61", "a;x=1", ";x", "a%2Fb", "", "", "\u0130", "I", "a.b", "a%20b", "\u00df",
        "aab", "-", "a-b", "A-a-a"
    };

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void find_randomPatternsAndPaths_isWhatThePatternsThemselvesSay(boolean caseSensitive) {
        long seed = Seeds.next();
        Random random = new Random(seed);
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(caseSensitive);
        for (int round = 0; round < 2_000; round++) {
            RouteIndex<PathPattern> index = new RouteIndex<>();
            List<PathPattern> patterns = new ArrayList<>();
            for (int i = random.nextInt(8); i >= 0; i--) {
                PathPattern pattern = pattern(random, parser);
                if (!patterns.contains(pattern)) {
                    patterns.add(pattern);
                    index.add(pattern, pattern);
                }
            }
            for (int i = 0; i < 20; i++) {
                PathContainer path = PathContainer.parsePath(path(random));
                List<PathPattern> matching = patterns.stream()
                        .filter(pattern -> pattern.matches(path))
                        .toList();

                assertThat(index.find(path))
                        .as("%s in %s, seed %s", path, patterns, seed)
                        .containsExactlyInAnyOrderElementsOf(matching);
                assertThat(index.matchesAny(path)).isEqualTo(!matching.isEmpty());
            }
        }
    }

    private static PathPattern pattern(Random random, PathPatternParser parser) {
        StringBuilder text = new StringBuilder();
        int variables = 0;
        for (int n = random.nextInt(5); n > 0; n--) {
            String part = PATTERN_PARTS[random.nextInt(PATTERN_PARTS.length)].replace("{x", "{x" + variables++);
            text.append('/').append(part);
        }
        switch (random.nextInt(5)) {
            case 0 -> text.append("/**");
            case 1 -> text.append("/{*rest}");
            case 2 -> text.append("/");
            default -> {}
        }
        return parser.parse(text.toString());
    }

    private static String path(Random random) {
        StringBuilder text = new StringBuilder();
        for (int n = random.nextInt(5); n > 0; n--) {
            text.append('/').append(PATH_PARTS[random.nextInt(PATH_PARTS.length)]);
        }
        return text.append(random.nextInt(4) == 0 ? "/" : "").toString();
    }

    @Test
    void find_manyRoutes_looksAtThoseOfThePathOnly() {
        RouteIndex<Integer> index = new RouteIndex<>();
        for (int i = 0; i < 1_000; i++) {
            index.add(PathPatternParser.defaultInstance.parse("/api/r" + i + "/{id}"), i);
        }

        assertThat(index.find(PathContainer.parsePath("/api/r777/x"))).containsExactly(777);
        assertThat(index.find(PathContainer.parsePath("/api/r1000/x"))).isEmpty();
        assertThat(new RouteIndex<Integer>().matchesAny(PathContainer.parsePath("/")))
                .isFalse();
    }
}
