package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.AppPerTest;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.Server;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.multipart.support.AbstractMultipartHttpServletRequest;

/** The fields of a multipart request are parameters wherever they are parameters to Spring MVC. */
@Tag("servers")
class MultipartFieldsTest extends AppPerTest {

    /** Handlers that a parameter selects, or that read one. */
    @RestController
    static class Account {

        final AtomicInteger calls = new AtomicInteger();

        @PostMapping(path = "/account", params = "action=login")
        @RateLimited(value = "2/hour", key = "ip")
        String login() {
            calls.incrementAndGet();
            return "login";
        }

        @PostMapping("/account")
        String other() {
            return "other";
        }

        @PostMapping("/export")
        String export(@RequestParam(required = false) String size) {
            calls.incrementAndGet();
            return "size " + size;
        }

        @PostMapping("/raw")
        String raw(HttpServletRequest request) throws IOException {
            return "bytes " + request.getInputStream().readAllBytes().length;
        }
    }

    /** Reads the fields by itself. */
    @Configuration(proxyBeanMethods = false)
    static class OwnResolver {

        @Bean
        MultipartResolver multipartResolver() {
            return new MultipartResolver() {
                @Override
                public boolean isMultipart(HttpServletRequest request) {
                    return String.valueOf(request.getContentType()).startsWith("multipart/");
                }

                @Override
                public MultipartHttpServletRequest resolveMultipart(HttpServletRequest request) {
                    return new OwnRequest(request);
                }

                @Override
                public void cleanupMultipart(MultipartHttpServletRequest request) {
                    // nothing is kept
                }
            };
        }
    }

    /** Has a field that the container has not. */
    static class OwnRequest extends AbstractMultipartHttpServletRequest {

        OwnRequest(HttpServletRequest request) {
            super(request);
            setMultipartFiles(new LinkedMultiValueMap<>());
        }

        @Override
        public String[] getParameterValues(String name) {
            return new String[] {"60"};
        }

        @Override
        public String getMultipartContentType(String name) {
            return "text/plain";
        }

        @Override
        public HttpHeaders getMultipartHeaders(String name) {
            return new HttpHeaders();
        }
    }

    static Stream<Arguments> types() {
        return Stream.of(Server.values())
                .flatMap(server -> Stream.of("multipart/mixed", "multipart/related", "Multipart/Form-Data")
                        .map(type -> Arguments.of(server, type)));
    }

    private RawResponse send(String path, String type, String name, String value) {
        String body = "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n--b--\r\n";
        return app.client().sendBody("POST " + path + " HTTP/1.1", body, "Content-Type: " + type + "; boundary=b");
    }

    /** How many of five requests with this field reach their handler. */
    private int callsOfFive(String path, String type, String name, String value) {
        AtomicInteger calls = app.bean(Account.class).calls;
        calls.set(0);
        for (int i = 0; i < 5; i++) {
            send(path, type, name, value);
        }
        return calls.get();
    }

    @ParameterizedTest
    @MethodSource("types")
    void fieldThatSelectsTheHandler_isNoWayAroundItsAnnotation(Server server, String type) {
        start(server, List.of(Account.class), "p.limit=1000/hour");

        assertThat(callsOfFive("/account", type, "action", "login")).isLessThanOrEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("types")
    void field_isNoWayAroundACondition(Server server, String type) {
        start(server, List.of(Account.class), "p.limit=2/hour", "p.match.when=#request.getParameter('size') == '60'");

        assertThat(callsOfFive("/export", type, "size", "60")).isLessThanOrEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("types")
    void field_isNoWayAroundACost(Server server, String type) {
        start(
                server,
                List.of(Account.class),
                "p.limit=120/hour",
                "p.permits=#request.getParameter('size') == '60' ? 60 : 1");

        assertThat(callsOfFive("/export", type, "size", "60")).isLessThanOrEqualTo(2);
    }

    @Test
    void field_isReadByTheApplication_afterAPolicyHasReadIt() {
        start(List.of(Account.class), "p.limit=9/hour", "p.match.when=#request.getParameter('size') == '60'");

        assertThat(send("/export", "multipart/mixed", "size", "60").body()).isEqualTo("size 60");
    }

    @Test
    void fieldThatOnlyTheApplicationCanRead_isUncertain() {
        start(
                List.of(Account.class, OwnResolver.class),
                "p.limit=2/hour",
                "p.match.when=#request.getParameter('size') == '60'");

        assertThat(callsOfFive("/export", "multipart/mixed", "size", "60")).isEqualTo(2);
    }

    @Test
    void bodyOfSeveralParts_withoutAMultipartResolver_isLeftToTheApplication() {
        start(
                List.of(Account.class),
                "spring.servlet.multipart.enabled=false",
                "p.limit=9/hour",
                "p.match.when=#request.getParameter('size') == '60'");

        assertThat(send("/raw", "multipart/mixed", "size", "60").body())
                .isNotEqualTo("bytes 0")
                .startsWith("bytes ");
    }
}
