package dev.ratelimit.spring.rules.path;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.rules.text.Quotation;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.UriUtils;

class UnmatchablePatternTest {

    private static PathPatterns read(String pattern) {
        return new PathPatterns(List.of(pattern), true);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "login | must start with '/'; write /login",
                "POST /login | starts with a method, and patterns match only the path; write /login (methods belong in match.methods)",
                "/post /login | starts with a method, and patterns match only the path; write /login (methods",
                "https://host/x | is a URL, and patterns match only the path below the context path; write /x",
                "/http://host:8080 | is a URL, and patterns match only the path below the context path; write /",
                "/login?x=1 | has a query, and patterns match only the path; write /login (conditions on the query",
                "/login?x=1&y=2 | has a query, and patterns match only the path; write /login (conditions on the query",
                "/login#top | looks as if it had a fragment, which requests do not carry; write /login",
                "/a;v=1/b;w | looks as if it had path parameters, which patterns never see; write /a/b",
                "/users/:id/posts/:post | looks as if it had a variable in another notation; write /users/{id}/posts/{post}",
                "/users/<int:id> | looks as if it had a variable in another notation; write /users/{id}",
                "/api//x | has empty or dot segments, which servers remove from paths; write /api/x",
                "//api | has empty or dot segments, which servers remove from paths; write /api",
                "/a/../b/./c | has empty or dot segments, which servers remove from paths; write /b/c",
                "/%6cogin/a%20b/100% | is percent-encoded, and patterns match decoded paths; write /login/a b/100%",
                "^/login$ | looks like a regular expression; path patterns allow those only inside {name:regex}; write /login",
                "/^login$ | looks like a regular expression; path patterns allow those only inside {name:regex}; write /login",
                ".* | looks like a regular expression; path patterns allow those only inside {name:regex}; write /**",
                "/api/.* | looks like a regular expression; path patterns allow those only inside {name:regex}; write /api/**",
                "^/api/.+/x$ | looks like a regular expression; path patterns allow those only inside {name:regex}; write /api/*/x",
                "/.* | looks like a regular expression; path patterns allow those only inside {name:regex}; write /** (to match a literal '.', write {x:\\.})",
                "/a$ | looks like a regular expression; path patterns allow those only inside {name:regex}; write /a (to match a literal '$', write {x:\\$})",
                "/items[0] | looks like a regular expression; path patterns allow those only inside {name:regex}; write a path pattern, such as /api/** or /users/{id:[0-9]+} (to match a literal '[', write {x:\\[})",
                "/:batch | looks as if it had a variable in another notation; write /{batch} (to match a literal ':', write {x:\\:})",
                "/users/{id}/:cancel | looks as if it had a variable in another notation; write /users/{id}/{cancel} (to match a literal ':'",
                "/c# | looks as if it had a fragment, which requests do not carry; write /c (to match a literal '#', write {x:\\#})",
                "/a;b | looks as if it had path parameters, which patterns never see; write /a (to match a literal ';', write {x:\\;})",
                "/tgt /e/** | looks like several paths; write /tgt, /e/** (separate paths by commas)",
                "/a;/b ; /c | looks like several paths; write /a, /b, /c (separate paths by commas)",
                "/a%2Fb | is percent-encoded, and patterns match decoded paths; write a path pattern, such as",
                "/%2A%2a | is percent-encoded, and patterns match decoded paths; write a path pattern, such as",
                "/%FF | is percent-encoded, and patterns match decoded paths; write a path pattern, such as",
                "/a%00b | is percent-encoded, and patterns match decoded paths; write a path pattern, such as",
                "/users/[0-9]+ | looks like a regular expression; path patterns allow those only inside {name:regex}; write a path pattern, such as",
                "/users/\\d+ | looks like a regular expression; path patterns allow those only inside {name:regex}; write a path pattern, such as",
                "\"/(login|signup)\" | looks like a regular expression; path patterns allow those only inside {name:regex}; write a path pattern, such as"
            })
    void check_anotherNotation_isRefusedWithThePattern(String pattern, String reason) {
        assertThatThrownBy(() -> read(pattern))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(Quotation.of(pattern) + " " + reason);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/a b",
                "/file?.txt",
                "/files/*.json",
                "/.well-known/**",
                "/odata/$metadata",
                "/Products(1)",
                "/v1/books:archive",
                "/users/{id:[0-9]+}",
                "/codes/{code:[a-z]{1,9}}",
                "/x/{y:^(?:a|b)$}/{z}",
                "/100%",
                "/.{name}",
                "/:{name}",
                "/a/{*rest}",
                "/a..b/c."
            })
    void check_aPatternThatCanMatch_isLeftAlone(String pattern) {
        assertThatCode(() -> read(pattern)).doesNotThrowAnyException();
    }

    @Test
    void check_severalLines_areSeveralPaths() {
        assertThatThrownBy(() -> read("/a/**\n/b"))
                .hasMessageEndingWith("looks like several paths; write /a/**, /b (separate paths by commas)");
        assertThatThrownBy(() -> read("/a|/b")).hasMessageContaining("write /a, /b (");
    }

    @ParameterizedTest
    @CsvSource({"0009", "0085", "00A0", "00AD", "200B", "2028", "202F", "FEFF"})
    void check_invisibleCharacter_isRefused(String code) {
        String invisible = Character.toString(Integer.parseInt(code, 16));

        assertThatThrownBy(() -> read("/a" + invisible + "b"))
                .hasMessageEndingWith(" has the invisible character U+" + code + "; write /ab");
        assertThatThrownBy(() -> read("/a/{b:" + invisible + "+}")).hasMessageContaining("has the invisible character");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u00a0/a", "/a\u00a0", "/a\u200b", "\ufeff/a"})
    void check_invisibleCharacterAtAnEnd_isRefused(String pattern) {
        assertThatThrownBy(() -> read(pattern)).hasMessageEndingWith("; write /a");
    }

    @ParameterizedTest
    @ValueSource(strings = {".", "|", "[", "]", "^", "$", "#", ";", ":", "<", "\\"})
    void check_specialCharacterInBraces_matchesItself(String special) {
        PathPatterns pattern = read("/a{x:\\" + special + "}b");

        assertThat(pattern.matchAny(PathContainer.parsePath("/a" + UriUtils.encode(special, UTF_8) + "b")))
                .isTrue();
        assertThat(pattern.matchAny(PathContainer.parsePath("/aab"))).isFalse();
    }
}
