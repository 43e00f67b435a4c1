package dev.ratelimit.spring.rules.path;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathOverlapTest {

    private final PathOverlap overlap = new PathOverlap(false);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/orders | /orders",
                "/ORDERS | /orders",
                "/orders/** | /orders",
                "/orders/** | /orders/{id}/items",
                "/orders/* | /orders/{id}",
                "/orders/7 | /orders/{id:[0-9]+}",
                "/{*rest} | /a/b/c",
                "/** | /",
                "/** | /**",
                "/a/** | /{x}/{y}",
                "/*.html | /page.html",
                "/page.* | /{name}.html",
                "/**/x | /a/b/x",
                "/a/{x:[0-9]{2}}/b | /a/12/b",
                "/a{x:/}b | /a{y}",
                "/100% | /{x}",
                "/a;b | /{x}",
                "/{a}{b} | /x",
                "/a/{x:(b)} | /a/b"
            })
    void patterns_withACommonPath_overlap(String one, String other) {
        assertThat(overlap.exists(one, other)).isTrue();
        assertThat(overlap.exists(other, one)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/order | /orders",
                "/orders | /orders/{id}",
                "/orders/* | /orders",
                "/orders/x | /orders/{id:[0-9]+}",
                "/hello.* | /hello",
                "/api.* | /api/search",
                "/hello.*/x | /hello/x",
                "/page.* | /{name}.html/x",
                "/ | /a",
                "/**/x | /a/b"
            })
    void patterns_withoutACommonPath_doNotOverlap(String one, String other) {
        assertThat(overlap.exists(one, other)).isFalse();
        assertThat(overlap.exists(other, one)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"/Orders, /orders", "/Orders/*, /orders/{id}", "/{x:[a-z]+}, /A"})
    void patterns_thatDifferInCase_overlapOnlyIfItDoesNotCount(String one, String other) {
        assertThat(overlap.exists(one, other)).isTrue();
        assertThat(new PathOverlap(true).exists(one, other)).isFalse();
    }
}
