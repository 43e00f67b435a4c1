package dev.ratelimit.spring.rules.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.server.PathContainer;

class PathPatternsTest {

    private static PathPatterns patterns(String... texts) {
        return new PathPatterns(List.of(texts), true);
    }

    private static RequestContext call(String path, @Nullable String read) {
        WebRequest request = new RecordedRequest("GET", path) {
            @Override
            public @Nullable PathContainer normalizedPath() {
                return read == null ? null : PathContainer.parsePath(read);
            }
        };
        return RecordedRequest.context(request, false);
    }

    @Test
    void matchAny_oneOfThemMatches() {
        PathPatterns patterns = patterns(" /a/* ", "/b");

        assertThat(patterns.matchAny(PathContainer.parsePath("/a/x"))).isTrue();
        assertThat(patterns.matchAny(PathContainer.parsePath("/b"))).isTrue();
        assertThat(patterns.matchAny(PathContainer.parsePath("/c"))).isFalse();
        assertThat(patterns.matchAny(PathContainer.parsePath("/B"))).isFalse();
        assertThat(new PathPatterns(List.of("/b"), false).matchAny(PathContainer.parsePath("/B")))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/{page:(home|login)}",
                "/a/{id:(\\d+)}",
                "/{x:(a+)+}",
                "/a/{x:[a-z]+}-{y:(?<n>b)}",
                "/{x:\\{(a)}"
            })
    void parse_groupThatCaptures_isRefused_becauseSpringWouldThrowForEachPath(String pattern) {
        assertThatThrownBy(() -> patterns(pattern))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write (?: in place of (");
    }

    @ParameterizedTest
    @CsvSource({"/{page:(?:home|login)}, /home", "/{x:\\(a\\)}, /(a)", "/{x:[(]a}, /(a", "/{x:a{2}}, /aa"})
    void parse_otherParentheses_areKept(String pattern, String path) {
        assertThat(patterns(pattern).matchAny(PathContainer.parsePath(path))).isTrue();
    }

    @Test
    void isEmpty_withoutPatterns() {
        assertThat(PathPatterns.NONE.isEmpty()).isTrue();
        assertThat(patterns("/a").isEmpty()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "/a, , true, true",
        "/b, , false, false",
        "/a, /b, true, false",
        "/b, /a, true, false",
        "/a, /a, true, true",
        "/b, /c, false, false"
    })
    void matchForms_pathAsWrittenAndAsRead(String path, @Nullable String read, boolean any, boolean every) {
        assertThat(patterns("/a").matchAnyForm(call(path, read))).isEqualTo(any);
        assertThat(patterns("/a").matchEveryForm(call(path, read))).isEqualTo(every);
        assertThat(PathPatterns.NONE.matchEveryForm(call(path, read))).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "/a, /**, true",
        "/a/**, /a/**, true",
        "/a/**, /a/*, false",
        "/a/{*rest}, /a/**, true",
        "/a/**, /a/{id}/**, false",
        "/**, /**, true",
        "/**, /, false",
        "/**, /*, false",
        "/a/{id}, /a/*, true",
        "/a/*, /a/{id}, false",
        "/a/{id}, /a/7, false"
    })
    void areCoveredBy_whatMatchesAllPathsOfTheOne(String some, String others, boolean covered) {
        assertThat(patterns(some).areCoveredBy(patterns(others))).isEqualTo(covered);
    }

    @Test
    void toString_isWhatIsWritten() {
        assertThat(patterns("/api/**", "/files/*")).hasToString("/api/**, /files/*");
        assertThat(patterns("/api/**", "/files/*").texts()).containsExactly("/api/**", "/files/*");
    }

    @Test
    void new_noPattern_saysWhatToWriteAndWhere() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> patterns("api/*"))
                .withMessage("'api/*' must start with '/'; write /api/*");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> patterns("/a/{b"))
                .withMessageStartingWith("Expected close capture character after variable name }")
                .withMessageEndingWith("\n      /a/{b\n           ^");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> patterns("/x{a:[}"))
                .withMessageStartingWith("'/x{a:[}': ");
    }

    @Test
    void rejoined_splitWithinBraces_isOnePattern() {
        assertThat(PathPatterns.rejoined(List.of("/a", "/{x:[a-z]{1", "9}}", "/b{x:y{1", "2", "3}}")))
                .containsExactly("/a", "/{x:[a-z]{1,9}}", "/b{x:y{1,2,3}}");
    }

    @Test
    void rejoined_bracesThatAreNotClosed_endAtTheNextPattern() {
        assertThat(PathPatterns.rejoined(List.of("/a{b", "/c", "d"))).containsExactly("/a{b", "/c", "d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/**", "/{*all}"})
    void areEverything_allPaths_isTrue(String pattern) {
        assertThat(new PathPatterns(List.of("/a", pattern), true).areEverything())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/*", "/a/**", "/{id}"})
    void areEverything_somePaths_isFalse(String pattern) {
        assertThat(new PathPatterns(List.of(pattern), true).areEverything()).isFalse();
    }
}
