package dev.ratelimit.spring.boot.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.pattern.PathPatternParser;

class KnownEndpointsTest {

    static class Pages {
        void page() {}
    }

    private final KnownEndpoints known = new KnownEndpoints((endpoint, handler) -> true);
    private HandlerMethod handler;

    @BeforeEach
    void addHandler() throws NoSuchMethodException {
        handler = new HandlerMethod(new Pages(), Pages.class.getDeclaredMethod("page"));
        known.add(
                Set.of(RequestMethod.GET),
                KnownEndpoints.byText(List.of(PathPatternParser.defaultInstance.parse("/a/b"))),
                handler,
                false);
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
}
