package dev.ratelimit.spring.boot.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.boot.endpoint.KnownEndpoints.Route;
import dev.ratelimit.spring.rules.request.Endpoint;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.pattern.PathPatternParser;

class KnownEndpointsTest {

    static class Pages {
        void page() {}
    }

    private final KnownEndpoints<String> known = new KnownEndpoints<>((endpoint, handler) -> true);
    private HandlerMethod handler;

    @BeforeEach
    void addHandler() throws NoSuchMethodException {
        handler = new HandlerMethod(new Pages(), Pages.class.getDeclaredMethod("page"));
        known.add(
                "a mapping",
                Set.of(RequestMethod.GET),
                KnownEndpoints.byText(List.of(PathPatternParser.defaultInstance.parse("/a/b"))),
                null,
                handler);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/b", "/a/b/", "/a/b.*"})
    void of_patternWithWhatTheMappingHasAdded_isTheEndpoint(String pattern) {
        assertThat(known.of(handler, pattern)).hasToString("GET /a/b");
    }

    @Test
    void of_anotherPattern_isUnknown() {
        assertThat(known.of(handler, "/a/bc")).isNull();
        assertThat(known.of(handler, "/a/b.c")).isNull();
        assertThat(known.of(handler, "")).isNull();
    }

    /** Routes such as {@code "GET /a if q"}: {@code /a} has a condition that a request {@code q} meets. */
    private static List<Route<String>> routes(String texts) {
        return Arrays.stream(texts.split(", "))
                .map(text -> text.split(" "))
                .map(part -> new Route<String>(
                        Endpoint.of(List.of(part[0]), PathPatternParser.defaultInstance.parse(part[1])),
                        part[0].equals("ANY") ? Set.of() : Set.of(RequestMethod.valueOf(part[0])),
                        part.length == 2 ? null : part[3]::equals))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET /{x}                             | GET     |   | GET /{x}",
                "GET /{x} if q                        | GET     |   | ",
                "GET /{x} if q                        | GET     | q | GET /{x}",
                "GET /{x} if q                        | GET     | r | ",
                "GET /{x}                             | HEAD    |   | GET /{x}",
                "GET /{x}, ANY /a                     | HEAD    | q | ",
                "HEAD /{x}, GET /a if q               | HEAD    | r | HEAD /{x}",
                "ANY /{x}                             | OPTIONS | q | ",
                "ANY /{x}                             | FOO     | q | ",
                "GET /{x}                             | POST    | q | ",
                "GET /{x}, POST /a                    | GET     |   | GET /{x}",
                "GET /{x}, POST /a if q               | GET     |   | GET /{x}",
                "GET /{x}, GET /a                     | GET     |   | GET /a",
                "ANY /a, GET /{x} if q                | GET     |   | ",
                "ANY /a, GET /{x} if q                | GET     | q | ANY /a",
                "GET /{x}, GET /a if q                | GET     | r | GET /{x}",
                "GET /{x}, GET /{y}                   | GET     | q | ",
                "GET /{x} if q, GET /{y} if r         | GET     | r | GET /{y}",
                "GET /{x}, GET /a, GET /**            | GET     |   | GET /a",
                "GET /a if q, GET /{x}, GET /** if r  | GET     | q | GET /a"
            })
    void certain_isTheMostSpecificRouteThatTheRequestMeets(
            String routes, String method, @Nullable String request, @Nullable String endpoint) {
        Endpoint certain = KnownEndpoints.certain(routes(routes), method, request);

        assertThat(certain == null ? null : certain.id()).isEqualTo(endpoint);
    }

    @Test
    void certain_withoutARoute_isNowhere() {
        assertThat(KnownEndpoints.certain(List.<Route<String>>of(), "GET", null))
                .isSameAs(Endpoint.NOWHERE);
    }
}
