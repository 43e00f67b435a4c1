package dev.ratelimit.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.memory.InMemoryStore;
import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.Filter;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.mock.web.DelegatingServletInputStream;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A form whose parameters a policy has read is still there, byte for byte, for a handler that reads the body. */
@ParameterizedClass
@MethodSource("servers")
@Tag("servers")
class KeptFormTest {

    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String FREE = "/free";
    private static final String LIMITED = "/limited";

    @RestController
    static class Handlers {

        @PostMapping({FREE + "/stream", LIMITED + "/stream"})
        String stream(HttpServletRequest request) throws IOException {
            return new String(request.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1)
                    + request.getInputStream().isFinished();
        }

        @PostMapping({FREE + "/reader", LIMITED + "/reader"})
        String reader(HttpServletRequest request) throws IOException {
            return request.getReader().lines().collect(Collectors.joining("\n"));
        }

        @PostMapping(LIMITED + "/both")
        String both(@RequestParam String id, HttpServletRequest request) throws IOException {
            return id + " of " + new String(request.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }

        @PostMapping({FREE + "/parameters", LIMITED + "/parameters"})
        String parameters(HttpServletRequest request) {
            Map<String, List<String>> all = new TreeMap<>();
            request.getParameterMap().forEach((name, values) -> {
                assertThat(request.getParameter(name)).isEqualTo(values[0]);
                assertThat(request.getParameterValues(name)).isEqualTo(values);
                all.put(name, Arrays.asList(values));
            });
            assertThat(request.getParameter("none")).isNull();
            assertThat(request.getParameterValues("none")).isNull();
            assertThat(request.getParameterNames().asIterator())
                    .toIterable()
                    .containsExactlyInAnyOrderElementsOf(all.keySet());
            // servers disagree about what is nameless, and nobody asks for it
            all.remove("");
            return all.toString();
        }

        @PostMapping(LIMITED + "/forward")
        void forward(HttpServletRequest request, HttpServletResponse response) throws Exception {
            request.getRequestDispatcher(LIMITED + "/parameters?b=forwarded").forward(request, response);
        }

        /** Goes on with the request of the server, without what filters have wrapped around it. */
        @PostMapping(LIMITED + "/async")
        void async(HttpServletRequest request) {
            request.startAsync().dispatch(LIMITED + "/parameters?b=dispatched");
        }

        /** Goes on with what the server says is its request. */
        @PostMapping(LIMITED + "/context")
        void context(HttpServletRequest request) {
            AsyncContext context = request.startAsync();
            context.start(() -> {
                try {
                    HttpServletRequest later = (HttpServletRequest) context.getRequest();
                    String body = new String(later.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                    context.getResponse().getWriter().print(body);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                context.complete();
            });
        }

        @PostMapping(LIMITED + "/listener")
        void listener(HttpServletRequest request, HttpServletResponse response) throws IOException {
            AsyncContext context = request.startAsync(request, response);
            ServletInputStream in = request.getInputStream();
            StringBuilder read = new StringBuilder();
            in.setReadListener(new ReadListener() {
                @Override
                public void onDataAvailable() throws IOException {
                    while (in.isReady() && !in.isFinished()) {
                        read.append((char) in.read());
                    }
                }

                @Override
                public void onAllDataRead() throws IOException {
                    response.getWriter().print(read);
                    context.complete();
                }

                @Override
                public void onError(Throwable failure) {
                    context.complete();
                }
            });
        }

        @PostMapping(LIMITED + "/values")
        String values(@RequestBody MultiValueMap<String, String> values) {
            return values.toString();
        }

        @PostMapping(LIMITED + "/error")
        void error(HttpServletResponse response) throws IOException {
            response.sendError(410);
        }

        @RequestMapping("/gone")
        String gone(HttpServletRequest request) {
            return "gone " + request.getParameter("id");
        }

        @PutMapping(LIMITED + "/put")
        String put(@RequestParam String id) {
            return id;
        }
    }

    /** Asks for a parameter before the limits do, as a filter against forged requests does. */
    @Configuration(proxyBeanMethods = false)
    static class ReadsFirst {

        @Bean
        FilterRegistrationBean<Filter> first() {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                HttpServletRequest http = (HttpServletRequest) request;
                if (http.getHeader("X-First") != null) {
                    String unused = request.getParameter("_csrf");
                }
                if (http.getHeader("X-Body") != null) {
                    byte[] unused = request.getInputStream().readNBytes(http.getIntHeader("X-Body"));
                }
                chain.doFilter(request, response);
            });
            filter.setOrder(-1_000);
            return filter;
        }
    }

    /** Keeps the body for handlers that read the stream, before any other filter; shows no parameters of it. */
    @Configuration(proxyBeanMethods = false)
    static class Repeats {

        @Bean
        FilterRegistrationBean<Filter> aRepeatsFirst() {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                HttpServletRequest http = (HttpServletRequest) request;
                chain.doFilter(http.getHeader("X-Repeat") == null ? http : new Repeated(http), response);
            });
            filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return filter;
        }
    }

    private static final class Repeated extends HttpServletRequestWrapper {

        private final byte[] body;

        Repeated(HttpServletRequest request) throws IOException {
            super(request);
            this.body = request.getInputStream().readAllBytes();
        }

        @Override
        public ServletInputStream getInputStream() {
            return new DelegatingServletInputStream(new ByteArrayInputStream(body));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Pages {

        @Bean
        OnBoot.ErrorPages pages() {
            return new OnBoot.ErrorPages().with(HttpStatus.GONE, "/gone");
        }
    }

    /** Cleans parameters, in front of the limits and of the handlers. */
    @Configuration(proxyBeanMethods = false)
    static class Cleaned {

        @Bean
        FilterRegistrationBean<Filter> cleaning() {
            FilterRegistrationBean<Filter> filter =
                    new FilterRegistrationBean<>((request, response, chain) -> chain.doFilter(
                            new HttpServletRequestWrapper((HttpServletRequest) request) {
                                @Override
                                public @Nullable String getParameter(String name) {
                                    String value = super.getParameter(name);
                                    return value == null ? null : value.replace("<", "");
                                }

                                @Override
                                public String @Nullable [] getParameterValues(String name) {
                                    String[] values = super.getParameterValues(name);
                                    return values == null
                                            ? null
                                            : Stream.of(values)
                                                    .map(value -> value.replace("<", ""))
                                                    .toArray(String[]::new);
                                }
                            },
                            response));
            filter.setOrder(-2_000);
            return filter;
        }
    }

    private final RunningApp app;

    KeptFormTest(RunningApp app) {
        this.app = app;
    }

    static Stream<RunningApp> servers() {
        return RunningApp.onEachServer(
                List.of(Handlers.class, ReadsFirst.class, Cleaned.class, Repeats.class, Pages.class),
                // its filter wraps requests, too
                "server.forward-headers-strategy=framework",
                // or Jetty decodes a form by another charset than the request says that it has
                "spring.servlet.encoding.force=false",
                "server.servlet.encoding.force=false",
                "ratelimit.policies.p.limit=2/hour",
                "ratelimit.policies.p.key=#request.getParameter('id')",
                "ratelimit.policies.p.missing-key=skip",
                "ratelimit.policies.p.match.paths=" + LIMITED + "/**");
    }

    private RawResponse post(String target, String type, String body, String... headers) {
        return app.client()
                .sendBody(
                        "POST " + target + " HTTP/1.1",
                        body,
                        Stream.concat(Stream.of("Content-Type: " + type), Stream.of(headers))
                                .toArray(String[]::new));
    }

    @Test
    void handler_getsTheBytesThatTheClientHasSent() {
        String form = "b=2&&id=bytes&c=%c3%bc+%2B&id2&";

        assertThat(post(LIMITED + "/stream", FORM, form).body()).isEqualTo(form + "true");
        assertThat(post(LIMITED + "/reader", FORM, form).body()).isEqualTo(form);
        assertThat(post(LIMITED + "/stream", FORM, form).status()).isEqualTo(429);
    }

    @Test
    void handler_mayReadParametersAndBytes() {
        assertThat(post(LIMITED + "/both?id=query", FORM, "a=1").body()).isEqualTo("query of a=1");
        assertThat(post(LIMITED + "/both", FORM, "id=both&a=1").body()).isEqualTo("both of id=both&a=1");
    }

    /** The same as on a path that no policy reads parameters of. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "id=%s",
                "id=%s&a=1&a=2",
                "a=1&id=%s&a",
                "&&id=%s&",
                "%%69%%64=%s",
                "id=%s&c=%%C3%%BC+%%2B%%26%%3D",
                "id=%s&c=x=y=z",
                "id=%s&empty=",
                "id=%s&c=\u00c3\u00bc",
                "id=%s;b=2",
                "id=%s&a b=c d",
            })
    void parameters_areThoseOfTheServer(String form) {
        for (String query : List.of("", "?q=1&a=0")) {
            for (String charset : List.of("", "; charset=UTF-8", ";charset=iso-8859-1")) {
                String body = String.format(form, query.length() + charset.length() + "of" + form.hashCode());
                RawResponse expected = post(FREE + "/parameters" + query, FORM + charset, body);

                RawResponse response = post(LIMITED + "/parameters" + query, FORM + charset, body);

                assertThat(expected.status()).isEqualTo(200);
                assertThat(response.body())
                        .as("%s%s of %s", charset, query, body)
                        .isEqualTo(expected.body());
                assertThat(response.status()).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id=m1&a=%zz",
                "id=m2&a=%",
                "%u=1&id=m3",
                "id=m4&a=%+1",
                "id=m5&a=%ff",
                "id=m6&a=\u00e9",
                "id=m7&=",
                "id=m8&=x"
            })
    void malformedForm_isABadRequest(String form) {
        assertThat(post(LIMITED + "/stream", FORM, form).status()).isEqualTo(400);
    }

    @Test
    void formOfTooManyFields_isABadRequest() {
        assertThat(post(LIMITED + "/stream", FORM, "id=many" + "&a".repeat(1_000))
                        .status())
                .isEqualTo(400);
    }

    @Test
    void formThatAFilterHasRead_isKnown() {
        for (int i = 0; i < 2; i++) {
            assertThat(post(LIMITED + "/parameters", FORM, "id=first", "X-First: 1")
                            .body())
                    .isEqualTo("{id=[first]}");
        }
        assertThat(post(LIMITED + "/parameters", FORM, "id=first", "X-First: 1").status())
                .isEqualTo(429);
    }

    /** Whole or in part. A key that is not certain is charged to the client's address; Jetty refuses what has no parts. */
    @ParameterizedTest
    @CsvSource({
        "/stream, application/x-www-form-urlencoded, 100",
        "/stream, application/x-www-form-urlencoded, 1",
        "/stream, application/x-www-form-urlencoded;charset=iso-8859-1, 100",
        "/stream, application/x-www-form-urlencoded;charset=iso-8859-1, 1",
        "/stream, multipart/form-data;boundary=b, 100",
    })
    void formThatAFilterHasReadAndHides_isNotFree(String path, String type, int read) {
        app.bean(InMemoryStore.class).clear();
        String hidden = LIMITED + path + "?id=" + type.length() + read;
        for (int i = 0; i < 2; i++) {
            assertThat(post(hidden + i, type, "id=hidden", "X-Body: " + read).status())
                    .isNotEqualTo(429);
        }

        assertThat(post(hidden + "2", type, "id=hidden", "X-Body: " + read).status())
                .isIn(429, 400);
    }

    @Test
    void chunkedFormThatAFilterHasReadAndHides_isNotFree() {
        app.bean(InMemoryStore.class).clear();
        for (int i = 0; i < 3; i++) {
            RawResponse response = app.client()
                    .send(
                            "POST " + LIMITED + "/stream?id=chunked" + i + " HTTP/1.1",
                            "Content-Type: " + FORM,
                            "X-Body: 100",
                            "Transfer-Encoding: chunked\r\n\r\n9\r\nid=hidden\r\n0");

            assertThat(response.status()).isEqualTo(i < 2 ? 200 : 429);
        }
    }

    /** Rules would read what is none. */
    @Test
    void compressedForm_hasNoCertainFields() {
        app.bean(InMemoryStore.class).clear();
        String[] compressed = {"Content-Encoding: gzip"};

        assertThat(post(LIMITED + "/stream?id=zip1", FORM, "%zip", compressed).body())
                .isEqualTo("%ziptrue");
        assertThat(post(LIMITED + "/stream?id=zip2", FORM, "%zip", compressed).status())
                .isEqualTo(200);
        assertThat(post(LIMITED + "/stream?id=zip3", FORM, "%zip", compressed).status())
                .isEqualTo(429);
    }

    @Test
    void formThatAFilterInFrontOfAllRepeats_isRead() {
        app.bean(InMemoryStore.class).clear();
        for (int i = 0; i < 2; i++) {
            assertThat(post(LIMITED + "/stream", FORM, "id=repeated", "X-Repeat: 1")
                            .body())
                    .isEqualTo("id=repeatedtrue");
            assertThat(post(LIMITED + "/stream?id=query" + i, FORM, "id=hidden", "X-Repeat: 1")
                            .status())
                    .isEqualTo(200);
        }
        assertThat(post(LIMITED + "/stream", FORM, "id=repeated", "X-Repeat: 1").status())
                .isEqualTo(429);
        assertThat(post(LIMITED + "/stream?id=query2", FORM, "id=hidden", "X-Repeat: 1")
                        .status())
                .isEqualTo(429);
    }

    /** A handler may read the first, the last, or all of them. */
    @Test
    void parameterWithSeveralValues_isNotCertain() {
        app.bean(InMemoryStore.class).clear();
        for (int i = 0; i < 3; i++) {
            assertThat(post(LIMITED + "/stream", FORM, "id=several" + i + "&id=victim")
                            .status())
                    .isEqualTo(i < 2 ? 200 : 429);
        }
    }

    @Test
    void bodyThatIsNoForm_isLeftAlone() {
        assertThat(post(LIMITED + "/stream", "application/json", "id=json").body())
                .isEqualTo("id=jsontrue");
        assertThat(app.client()
                        .sendBody("PUT " + LIMITED + "/put HTTP/1.1", "id=put", "Content-Type: " + FORM)
                        .body())
                .isEqualTo("put");
    }

    @Test
    void wrapper_inFrontOfTheLimits_isHeard() {
        assertThat(post(LIMITED + "/both", FORM, "id=clean").body()).isEqualTo("clean of id=clean");
        assertThat(post(LIMITED + "/both", FORM, "id=<clean").body()).isEqualTo("clean of id=<clean");
        assertThat(post(LIMITED + "/both", FORM, "id=cl<ean").status()).isEqualTo(429);
    }

    @Test
    void dispatches_seeTheSameForm() {
        assertThat(post(LIMITED + "/forward", FORM, "id=forward&b=1").body())
                .isEqualTo("{b=[forwarded, 1], id=[forward]}");
        assertThat(post(LIMITED + "/async", FORM, "id=async").body()).isEqualTo("{b=[dispatched], id=[async]}");
        assertThat(post(LIMITED + "/context", FORM, "id=context").body()).isEqualTo("id=context");
        assertThat(post(LIMITED + "/listener", FORM, "id=listener").body()).isEqualTo("id=listener");
        assertThat(post(LIMITED + "/error", FORM, "id=error").body()).isEqualTo("gone error");
    }

    /** In which the converter of the handler reads other fields than the server. */
    @Test
    void formInAnotherCharset_isReadByTheServer() {
        String utf16 = new String("id=other".getBytes(StandardCharsets.UTF_16BE), StandardCharsets.ISO_8859_1);

        RawResponse response = post(LIMITED + "/values?id=query", FORM + ";charset=utf-16be", "id=known&" + utf16);

        assertThat(response.body()).doesNotContain("other");
    }

    /** Without a length, nobody knows before the end how large it is: the server reads it. */
    @Test
    void formOfUnknownLength_isReadByTheServer() {
        RawResponse response = app.client()
                .send(
                        "POST " + LIMITED + "/parameters HTTP/1.1",
                        "Content-Type: " + FORM,
                        "Transfer-Encoding: chunked\r\n\r\na\r\nid=chunked\r\n0");

        assertThat(response.body()).isEqualTo("{id=[chunked]}");
    }
}
